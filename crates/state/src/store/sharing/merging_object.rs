//! The state object of a shared run: every write merges the records of the run into what is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::contention::{Attempt, until_done};
use super::errors::{missing_state, overwritten};
use super::membership::Membership;
use super::merge::{Claimant, MergedRecords, adopt, merge};
use super::object::{SharedObject, Versioned};
use super::record::{RecordDigest, RecordDigests, RecordName};
use super::segments::RunSegments;
use super::unanswered::UnansweredRecords;
use crate::error::{StateError, StateErrorKind};
use crate::file;
use crate::journal::SegmentStore;
use crate::model::State;
use crate::store::paths::StatePaths;
use crate::store::remote::{JournalsAfter, StateObject};
use crate::store::sealed::{clear, sealed};

/// The state as it is stored.
pub(super) struct StoredState {
    pub state: State,
    pub stored: Versioned,
}

impl StoredState {
    /// Reads the state.
    ///
    /// # Errors
    /// The store fails, or its content is not a state or cannot be decrypted.
    pub fn read(object: &dyn SharedObject, paths: &StatePaths) -> Result<Self, StateError> {
        let stored = object.read_state()?.ok_or_else(|| missing_state(&object.location()))?;
        Ok(Self { state: parse(object, paths, &stored)?, stored })
    }

    /// Writes the state under its next serial, if this version of it is still stored.
    ///
    /// # Errors
    /// The serial is the largest possible, or the store fails.
    pub fn write(mut self, object: &dyn SharedObject, paths: &StatePaths) -> Result<Attempt<Self>, StateError> {
        let serial = self.state.serial.checked_add(1);
        self.state.serial = serial.ok_or_else(|| StateError::serial_out_of_range(&object.location()))?;
        let bytes = Bytes::from(sealed(paths.encryption.as_deref(), file::write(&self.state))?);
        match object.write_state(&bytes, &self.stored.version) {
            Ok(version) => Ok(Attempt::Done(Self { stored: Versioned { bytes, version }, ..self })),
            Err(problem) if problem.kind == StateErrorKind::Changed => Ok(Attempt::Overtaken),
            Err(problem) => Err(problem),
        }
    }
}

fn parse(object: &dyn SharedObject, paths: &StatePaths, stored: &Versioned) -> Result<State, StateError> {
    let location = object.location();
    if file::is_blank(&stored.bytes) {
        return Err(missing_state(&location));
    }
    let location = Path::new(&location);
    file::read(&clear(paths, location, &stored.bytes)?.bytes).map_err(|error| {
        let error = error.in_file(location);
        match object.restore_advice() {
            Some(advice) => error.restored_by(advice),
            None => error,
        }
    })
}

/// The state as one shared run writes it.
///
/// A write takes three steps: the stored state is read with its version, the document is asked whether this process still carries
/// the run on, and the merged state replaces that version. A process that takes the run over writes the state after it has entered
/// the document, so that a write of the former process fails, or is complete before.
pub(super) struct MergingObject {
    pub membership: Arc<Membership>,
    paths: StatePaths,
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
    /// The state that the run started from, with the records that it has written.
    base: State,
    /// The stored state that was read or written last.
    stored: Versioned,
    merged: Merged,
    /// The number of states that were to be written.
    writes: u64,
    /// The records of those since the last write that was answered, by their number.
    unanswered: BTreeMap<u64, UnansweredRecords>,
}

impl Progress {
    /// Notes which records of unanswered writes are stored. The others may arrive as long as the version stays that they replace.
    fn settle(&mut self, stored: &State) {
        for unanswered in self.unanswered.values() {
            let landed = unanswered.settle(&mut self.base, stored);
            if !landed.is_empty() {
                self.merged.records.extend(landed);
                self.merged.serial = stored.serial;
            }
        }
    }
}

impl MergingObject {
    /// Creates the object of a run that starts from this state.
    pub fn new(membership: Arc<Membership>, paths: StatePaths, start: StoredState) -> Self {
        let progress = Progress {
            base: start.state,
            stored: start.stored,
            merged: Merged::default(),
            writes: 0,
            unanswered: BTreeMap::new(),
        };
        Self { membership, paths, progress: Mutex::new(progress) }
    }

    /// Makes the run start from another stored state. Nothing is written meanwhile.
    pub fn restart(&self, start: StoredState) {
        let mut progress = self.progress();
        (progress.base, progress.stored) = (start.state, start.stored);
    }

    /// Passes on the stored state that the run started from, with the records that it has written.
    pub fn with_base<T>(&self, action: impl FnOnce(&State) -> T) -> T {
        action(&self.progress().base)
    }

    /// Returns the changes that the run has written.
    pub fn merged(&self) -> Merged {
        self.progress().merged.clone()
    }

    /// Returns the content of the records that the run has written.
    pub fn written(&self) -> BTreeMap<RecordName, Option<RecordDigest>> {
        let progress = self.progress();
        if progress.merged.records.is_empty() {
            return BTreeMap::new();
        }
        let own = RecordDigests::of(&progress.base);
        progress.merged.records.iter().map(|name| (name.clone(), own.get(name).cloned())).collect()
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the merged state once.
    fn attempt(&self, ours: &State, progress: &mut Progress) -> Result<Attempt<()>, StateError> {
        let object = &*self.membership.object;
        let document = self.membership.check()?;
        let own = Some(&*self.membership.run);
        let claimant = |record: &RecordName| match document.claimant(record) {
            None => Claimant::Nobody,
            run if run == own => Claimant::Own,
            Some(_) => Claimant::Other,
        };
        let mut theirs = parse(object, &self.paths, &progress.stored)?;
        let checks = theirs.check_results.clone();
        progress.settle(&theirs);
        let MergedRecords { changed, conflicts } = merge(&progress.base, ours, &mut theirs, claimant);
        // The journal keeps the results, and the next run sorts out which objects exist.
        if !conflicts.is_empty() {
            return Err(overwritten(&object.location(), &conflicts));
        }
        if changed.is_empty() && checks == theirs.check_results {
            return Ok(Attempt::Done(()));
        }
        theirs.terraform_version.clone_from(&ours.terraform_version);
        let merged = StoredState { state: theirs, stored: progress.stored.clone() };
        let written = match merged.write(object, &self.paths) {
            Ok(Attempt::Done(written)) => written,
            other => {
                let unanswered = UnansweredRecords::of(&progress.base, ours, &changed);
                progress.unanswered.insert(progress.writes, unanswered);
                return other.map(|_| Attempt::Overtaken);
            }
        };
        adopt(&mut progress.base, ours, &changed);
        progress.merged.records.extend(changed);
        progress.merged.serial = written.state.serial;
        progress.unanswered.clear();
        progress.stored = written.stored;
        Ok(Attempt::Done(()))
    }
}

impl StateObject for MergingObject {
    fn location(&self) -> String {
        self.membership.object.location()
    }

    // A run that goes on at the same time may have a journal, so a write never says that all are closed.
    fn write(&self, ours: &State, _bytes: &Bytes, _journals: JournalsAfter) -> Result<(), StateError> {
        let object = &*self.membership.object;
        let mut progress = self.progress();
        progress.writes += 1;
        // A run that has waited for its turn reads the state again first, because another run has probably written it.
        let turn = object.write_turn();
        let mut is_overtaken = turn.is_some();
        until_done(object, "the state", || {
            if std::mem::replace(&mut is_overtaken, true) {
                progress.stored = object.read_state()?.ok_or_else(|| missing_state(&object.location()))?;
            }
            self.attempt(ours, &mut progress)
        })
    }

    fn journal(&self) -> Option<Arc<dyn SegmentStore>> {
        let inner = self.membership.object.journals()?;
        Some(Arc::new(RunSegments { inner, membership: Arc::clone(&self.membership) }))
    }
}
