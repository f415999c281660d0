//! The journal of one shared run in the store, next to those of others.

use std::collections::BTreeSet;
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
    // Also lists the notes about journals of other shared runs, which are deleted when they are old and the journals are gone.
    fn list(&self) -> Result<Vec<SegmentId>, StateError> {
        let all = self.inner.list()?;
        let with_segments: BTreeSet<String> =
            all.iter().filter(|id| !id.is_merge_note()).map(|id| id.run.clone()).collect();
        let own = |id: SegmentId| {
            let is_shared_note = id.is_merge_note() && is_shared_journal(&id.run);
            if is_shared_note && !id.run.starts_with(&self.membership.run) {
                return Some(id).filter(|id| !with_segments.contains(&id.run));
            }
            let run = id.run.strip_prefix(&self.membership.run)?.strip_prefix('-')?.to_owned();
            Some(SegmentId { run, number: id.number })
        };
        Ok(all.into_iter().filter_map(own).collect())
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
