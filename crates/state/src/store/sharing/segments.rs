//! The journal of one shared run in the store, next to those of others.

use std::sync::Arc;
use std::time::SystemTime;

use super::membership::Membership;
use crate::error::StateError;
use crate::journal::{SegmentCreated, SegmentId, SegmentStore};

/// The segments of one run, whose names begin with the identifier of the run. Every process that carries the run on writes a
/// journal of its own.
pub(super) struct RunSegments {
    pub inner: Arc<dyn SegmentStore>,
    pub membership: Arc<Membership>,
}

/// The number of characters of a shared run's identifier.
const IDENTIFIER: usize = 16;

/// Whether a journal in the store is that of a shared run. Others are those of runs that held the ordinary lock alone.
pub(super) fn is_shared_journal(run: &str) -> bool {
    run.split_once('-').is_some_and(|(identifier, _)| identifier.len() == IDENTIFIER)
}

impl RunSegments {
    fn stored(&self, id: &SegmentId) -> SegmentId {
        // The note about a journal of another run.
        if is_shared_journal(&id.run) {
            return id.clone();
        }
        SegmentId { run: format!("{}-{}", self.membership.run, id.run), number: id.number }
    }
}

impl SegmentStore for RunSegments {
    // Also lists the notes about merged journals of other shared runs, which are deleted when they are old.
    fn list(&self) -> Result<Vec<SegmentId>, StateError> {
        let own = |id: SegmentId| {
            if id.is_merge_note() && is_shared_journal(&id.run) && !id.run.starts_with(&self.membership.run) {
                return Some(id);
            }
            let run = id.run.strip_prefix(&self.membership.run)?.strip_prefix('-')?.to_owned();
            Some(SegmentId { run, number: id.number })
        };
        Ok(self.inner.list()?.into_iter().filter_map(own).collect())
    }

    fn read(&self, id: &SegmentId) -> Result<Option<Vec<u8>>, StateError> {
        self.inner.read(&self.stored(id))
    }

    fn create(&self, id: &SegmentId, bytes: &[u8]) -> Result<SegmentCreated, StateError> {
        // Before, so that a run that was taken over announces no calls; and after, because nobody reads a segment that is created when
        // another process has taken the run over. One that takes it over later finds the segment.
        self.membership.confirm()?;
        let created = self.inner.create(&self.stored(id), bytes)?;
        self.membership.confirm().map(|()| created)
    }

    fn delete(&self, ids: &[SegmentId]) -> Result<(), StateError> {
        self.inner.delete(&ids.iter().map(|id| self.stored(id)).collect::<Vec<_>>())
    }

    fn longest(&self) -> usize {
        self.inner.longest()
    }

    fn now(&self) -> SystemTime {
        self.inner.now()
    }
}
