//! The state object of a shared run: every write merges the records of the run into what is stored.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::errors::overwritten;
use super::membership::Membership;
use super::merge::{Claimant, MergedRecords, adopt, merge};
use super::object::{Versioned, contention_pause};
use super::record::RecordName;
use super::segments::{RunOrigin, RunSegments};
use crate::error::{StateError, StateErrorKind};
use crate::file;
use crate::journal::SegmentStore;
use crate::model::State;
use crate::store::paths::StatePaths;
use crate::store::remote::{JournalsAfter, StateObject};
use crate::store::sealed::{clear, sealed};

/// The number of attempts to write a state that other runs write at the same time.
const ATTEMPTS: u32 = 400;

/// The state as one shared run writes it.
///
/// A write takes three steps: the stored state is read with its version, the document is asked whether this process still carries
/// the run on, and the merged state replaces that version. A process that takes the run over writes the state after it has entered
/// the document, so that a write of the former process fails, or is complete before.
pub(super) struct MergingObject {
    pub membership: Arc<Membership>,
    paths: StatePaths,
    origin: RunOrigin,
    progress: Mutex<Progress>,
}

/// The changes that a run has written.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    pub records: BTreeSet<RecordName>,
    /// The serial of the last write.
    pub serial: u64,
}

struct Progress {
    /// The state that the run started from.
    base: State,
    /// The stored state that was read or written last.
    stored: Versioned,
    merged: Merged,
}

impl MergingObject {
    /// Creates the object of a run that starts from `stored`.
    ///
    /// # Errors
    /// The stored bytes are not a state, or cannot be decrypted.
    pub fn new(
        membership: Arc<Membership>,
        paths: StatePaths,
        origin: RunOrigin,
        stored: Versioned,
    ) -> Result<Self, StateError> {
        let base = parse(&paths, &membership.object.location(), &stored.bytes)?;
        let progress = Mutex::new(Progress { base, stored, merged: Merged::default() });
        Ok(Self { membership, paths, origin, progress })
    }

    /// Makes the run start from another stored state.
    ///
    /// # Errors
    /// As for [`MergingObject::new`].
    pub fn restart(&self, stored: Versioned) -> Result<(), StateError> {
        let base = parse(&self.paths, &self.membership.object.location(), &stored.bytes)?;
        let mut progress = self.progress();
        (progress.base, progress.stored) = (base, stored);
        Ok(())
    }

    /// Returns the changes that the run has written.
    pub fn merged(&self) -> Merged {
        self.progress().merged.clone()
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_again(&self) -> Result<Versioned, StateError> {
        let location = self.membership.object.location();
        self.membership.object.read_state()?.ok_or_else(|| super::errors::missing_state(&location))
    }

    /// Writes the merged state once.
    fn attempt(&self, ours: &State, progress: &mut Progress) -> Result<Attempt, StateError> {
        let object = &self.membership.object;
        let document = self.membership.check()?;
        let own = Some(&*self.membership.run);
        let claimant = |record: &RecordName| match document.claimant(record) {
            None => Claimant::Nobody,
            run if run == own => Claimant::Own,
            Some(_) => Claimant::Other,
        };
        let mut theirs = parse(&self.paths, &object.location(), &progress.stored.bytes)?;
        let checks = theirs.check_results.clone();
        let MergedRecords { changed, conflicts } = merge(&progress.base, ours, &mut theirs, claimant);
        // The journal keeps the results, and the next run sorts out which objects exist.
        if !conflicts.is_empty() {
            return Err(overwritten(&object.location(), &conflicts));
        }
        if changed.is_empty() && checks == theirs.check_results {
            progress.merged.serial = theirs.serial;
            return Ok(Attempt::Done);
        }
        theirs.terraform_version.clone_from(&ours.terraform_version);
        theirs.serial = theirs.serial.checked_add(1).ok_or_else(|| last_serial(&object.location()))?;
        let bytes = Bytes::from(sealed(self.paths.encryption.as_deref(), file::write(&theirs))?);
        match object.write_state(&bytes, &progress.stored.version) {
            Ok(version) => {
                progress.stored = Versioned { bytes, version };
                adopt(&mut progress.base, ours, &changed);
                progress.merged.records.extend(changed);
                progress.merged.serial = theirs.serial;
                Ok(Attempt::Done)
            }
            Err(problem) if problem.kind == StateErrorKind::Changed => Ok(Attempt::Overtaken),
            Err(problem) => Err(problem),
        }
    }
}

enum Attempt {
    Done,
    /// Another run has written the state since it was read.
    Overtaken,
}

impl StateObject for MergingObject {
    fn location(&self) -> String {
        self.membership.object.location()
    }

    // A run that goes on beside this one may have a journal, so a write never says that all are closed.
    fn write(&self, bytes: &Bytes, _journals: JournalsAfter) -> Result<(), StateError> {
        let ours = parse(&self.paths, &self.location(), bytes)?;
        let mut progress = self.progress();
        for attempt in 0..ATTEMPTS {
            if let Attempt::Done = self.attempt(&ours, &mut progress)? {
                return Ok(());
            }
            self.membership.object.sleep(contention_pause(&*self.membership.object, attempt));
            progress.stored = self.read_again()?;
        }
        Err(StateError::new(
            StateErrorKind::Io,
            "State not written",
            format!("Other runs write {} all the time. Run the command again.", self.location()),
        ))
    }

    fn journal(&self) -> Option<Arc<dyn SegmentStore>> {
        let inner = self.membership.object.journals()?;
        Some(Arc::new(RunSegments { inner, membership: Arc::clone(&self.membership), origin: self.origin }))
    }
}

pub(super) fn parse(paths: &StatePaths, location: &str, bytes: &[u8]) -> Result<State, StateError> {
    if file::is_blank(bytes) {
        return Err(super::errors::missing_state(location));
    }
    file::read(&clear(paths, Path::new(location), bytes)?.bytes).map_err(|error| error.in_file(Path::new(location)))
}

fn last_serial(location: &str) -> StateError {
    StateError::malformed(
        "State serial out of range",
        format!(
            "The serial of the state in {location} is the largest possible, so no state can follow it. Nothing was written."
        ),
    )
}
