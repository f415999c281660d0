//! Opening the state of a workspace: lock, read, recovery of an interrupted run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use groma_encryption::Encryption;
use groma_state::{
    Access, Backup, DamagedJournal, Journal, Locking, Opened, PersistIntervals, RemoteOptions, RemoteState,
    Replicating, Saved, SharedObject, State, StateError, StateErrorKind, StatePaths,
};

use super::backend::RemoteBackend;
use super::guard::{LockGuard, ReleaseReport, Waiting};
use super::object::{StoredObject, state_error};
use super::reading::{Listing, LocalJournal, Reading, Sharing, opening_pauses};
use super::shared::RemoteShared;
use crate::error::StoreError;
use crate::host::Environment;
use crate::store::HeldLock;

/// The intervals at which a run writes the state, unless `TF_STATE_PERSIST_INTERVAL` sets another one. A store without
/// journals gets the state more often, because results that it does not have are lost with the machine.
const PERSIST_INTERVALS: PersistIntervals =
    PersistIntervals { with_journal: Duration::from_secs(20), without_journal: Duration::from_secs(3) };

/// Returns the intervals at which a run writes the state: 20 seconds, or 3 without a journal in the store, or
/// `TF_STATE_PERSIST_INTERVAL` in seconds. A value that is not a whole number is ignored; a shorter interval than
/// OpenTofu's minimum of 20 is allowed.
pub fn persist_intervals(environment: &Environment) -> PersistIntervals {
    let set = environment.get("TF_STATE_PERSIST_INTERVAL").and_then(|text| text.trim().parse().ok());
    set.map_or(PERSIST_INTERVALS, |seconds: u64| {
        // Zero would write the state without a pause.
        let interval = Duration::from_secs(seconds.max(1));
        PersistIntervals { with_journal: interval, without_journal: interval }
    })
}

/// The settings of opening a workspace.
pub struct OpenOptions<'a> {
    /// Whether and how to lock.
    pub locking: &'a Locking,
    /// The behavior while another run holds the lock.
    pub waiting: &'a dyn Waiting,
    /// Reports a lock that could not be released.
    pub report: ReleaseReport,
    /// The encryption of the state.
    pub encryption: Option<Arc<Encryption>>,
    /// The backup of the state before its first change.
    pub backup: Backup,
    /// The answer to a damaged journal.
    pub damaged_journal: DamagedJournal,
    /// The directory of journals on this machine.
    pub journals: &'a Path,
    /// The version of Terraform that written states name.
    pub terraform_version: &'a str,
    /// The intervals at which a run writes the state.
    pub persist_intervals: PersistIntervals,
}

/// An open workspace: its state with its lock.
pub struct RemoteHandle {
    // Dropped before the lock: nothing may be written after its release.
    state: RemoteState,
    lock: Option<LockGuard>,
}

/// The result of opening a workspace.
pub struct OpenedRemote {
    /// The open workspace.
    pub handle: RemoteHandle,
    /// Its state, with what an interrupted run has left.
    pub opened: Opened,
}

impl RemoteBackend {
    /// Opens a workspace: takes the lock, reads the state, and recovers what a killed run has left on this machine.
    ///
    /// # Errors
    /// Another run holds the lock, the store fails, or the stored state cannot be read.
    pub fn open(&self, workspace: &str, options: OpenOptions<'_>) -> Result<OpenedRemote, StateError> {
        let lock = match options.locking {
            Locking::On(request) => {
                let guard = self.lock(workspace, request, options.waiting, options.report.clone());
                Some(guard.map_err(|problem| state_error(&problem))?)
            }
            Locking::Off => None,
        };
        let mut pauses = opening_pauses();
        loop {
            let problem = match self.recover(workspace, lock.as_ref(), &options) {
                Ok((state, opened)) => return Ok(OpenedRemote { handle: RemoteHandle { state, lock }, opened }),
                Err(problem) => problem,
            };
            // A run that was paused until its lock expired may still end, as long as nobody has written the state since. But
            // without its own lock, this run cannot open the state.
            let is_taken_over = lock.as_ref().and_then(LockGuard::keeper).is_some_and(|keeper| keeper.is_taken_over());
            let may_pass = problem.kind == StateErrorKind::Changed && !is_taken_over;
            let Some(pause) = pauses.next().filter(|_| may_pass) else { return Err(problem) };
            self.clock().sleep(pause);
        }
    }

    /// Opens a workspace that is not shared, without a request for its sharing document: the note of the state, or the listing of its
    /// journals, proves that no document exists. Returns `None`, and holds no lock, if the state may be shared, if another run has locked it,
    /// or if the store keeps no notes.
    ///
    /// The lock comes first, because sharing can only be enabled under the lock.
    ///
    /// # Errors
    /// The store fails, or the stored state cannot be read.
    pub fn open_unshared(
        &self,
        workspace: &str,
        options: &OpenOptions<'_>,
    ) -> Result<Option<OpenedRemote>, StateError> {
        let Locking::On(request) = options.locking else { return Ok(None) };
        // A shared state would be locked in vain, and other runs would wait for this one.
        let marker = self.sharing_marker(options.journals, workspace);
        if marker.exists() || self.noted_states().is_none() || !self.store().can_lock() {
            return Ok(None);
        }
        let lock = self.lock_if_free(workspace, request, options.waiting, options.report.clone());
        let Some(lock) = lock.map_err(|problem| state_error(&problem))? else { return Ok(None) };
        let reading = match self.read_with_journals(workspace, self.local_journal(options.journals, workspace)) {
            Ok(reading) if reading.sharing == Sharing::Off || self.is_document_missing(workspace, &reading) => reading,
            Ok(_) => {
                // Without the marker, the next run only tries again.
                let _ = marker.parent().map(std::fs::create_dir_all);
                let _ = std::fs::write(marker, "");
                return Ok(None);
            }
            // A run that was paused until its lock expired writes the state at this moment. The general way waits for its end.
            Err(StoreError::Conflict { .. }) => return Ok(None),
            Err(problem) => return Err(state_error(&problem)),
        };
        let (state, opened) = self.resume(workspace, Some(&lock), reading, options)?;
        Ok(Some(OpenedRemote { handle: RemoteHandle { state, lock: Some(lock) }, opened }))
    }

    /// Whether an identity that may not list what accompanies a state finds no sharing document, or may not read that either: Terraform
    /// and OpenTofu need no right to it, so that the state then counts as one that nobody has shared.
    fn is_document_missing(&self, workspace: &str, reading: &Reading) -> bool {
        let (Some(Listing::Denied(_)), Some(sharing)) = (&reading.listing, self.store().sharing()) else {
            return false;
        };
        matches!(self.block_on(sharing.read_sharing(workspace)), Ok(None) | Err(StoreError::AccessDenied { .. }))
    }

    /// Reads the state and its journals, and merges the journals.
    fn recover(
        &self,
        workspace: &str,
        lock: Option<&LockGuard>,
        options: &OpenOptions<'_>,
    ) -> Result<(RemoteState, Opened), StateError> {
        // A run that ignores the lock leaves the journals alone.
        let ignores_lock = lock.is_none_or(|lock| lock.held().is_none()) && self.store().can_lock();
        let reading = if ignores_lock {
            self.read(workspace).map(|found| Reading { found, listing: None, sharing: Sharing::Possible })
        } else {
            self.read_with_journals(workspace, self.local_journal(options.journals, workspace))
        };
        self.resume(workspace, lock, reading.map_err(|problem| state_error(&problem))?, options)
    }

    /// Merges the journals of a state that was read.
    fn resume(
        &self,
        workspace: &str,
        lock: Option<&LockGuard>,
        reading: Reading,
        options: &OpenOptions<'_>,
    ) -> Result<(RemoteState, Opened), StateError> {
        let Reading { found, listing, sharing: _ } = reading;
        let held = lock.and_then(LockGuard::keeper).cloned();
        // A store without locks keeps nobody off, whatever was asked for.
        let access = if held.is_some() { Access::Exclusive } else { Access::Unlocked };
        let object = StoredObject::new(self.clone(), workspace, held, found.as_ref()).with_listing(listing);
        let paths = StatePaths::of_file(self.journal_file(options.journals, workspace))
            .with_backup(options.backup.clone())
            .encrypted(options.encryption.clone())
            .with_damaged_journal(options.damaged_journal);
        let remote = RemoteOptions {
            paths,
            terraform_version: options.terraform_version.to_owned(),
            access,
            // Simulations decide themselves when the state is written.
            persist_intervals: Some(options.persist_intervals)
                .filter(|_| self.replicating() == Replicating::Background),
            replicating: self.replicating(),
        };
        let bytes = found.map(|found| found.bytes);
        RemoteState::open(Arc::new(object), bytes, remote)
    }

    /// Returns a workspace as an object that runs can share.
    ///
    /// # Errors
    /// The store cannot share states; the error says why.
    pub fn shared(&self, workspace: &str) -> Result<Arc<dyn SharedObject>, StoreError> {
        RemoteShared::of(self, workspace)
    }

    /// Returns the journal on this machine of runs that hold the lock of a workspace alone.
    pub fn exclusive_journal(&self, journals: &Path, workspace: &str) -> PathBuf {
        StatePaths::of_file(self.journal_file(journals, workspace)).journal()
    }

    /// Returns the folder on this machine with the journals of shared runs.
    pub fn shared_runs(&self, journals: &Path, workspace: &str) -> PathBuf {
        self.journal_file(journals, workspace).with_file_name("shared-runs")
    }

    /// Returns the file on this machine which says that runs share a workspace, or have shared it. The sharing document itself decides.
    pub(super) fn sharing_marker(&self, journals: &Path, workspace: &str) -> PathBuf {
        self.journal_file(journals, workspace).with_file_name("shared")
    }

    /// Returns the file that the journal of a workspace belongs to. The location of the state is part of the name, so that
    /// a journal is never taken for that of another state.
    pub(super) fn journal_file(&self, journals: &Path, workspace: &str) -> PathBuf {
        let identity = crc32fast::hash(self.location(workspace).as_bytes());
        journals.join(format!("{}-{identity:08x}", self.ty().name)).join("terraform.tfstate")
    }

    fn local_journal(&self, journals: &Path, workspace: &str) -> LocalJournal {
        if self.has_journal(journals, workspace) { LocalJournal::Left } else { LocalJournal::None }
    }

    /// Whether a killed run has left a journal for a workspace on this machine.
    pub fn has_journal(&self, journals: &Path, workspace: &str) -> bool {
        StatePaths::of_file(self.journal_file(journals, workspace)).journal().exists()
    }
}

impl RemoteHandle {
    /// Returns the files of this machine, with the encryption and the backup of the state.
    pub fn paths(&self) -> &StatePaths {
        self.state.paths()
    }

    /// Returns the location of the state for messages.
    pub fn location(&self) -> String {
        self.state.location()
    }

    /// Returns the lock that this run holds.
    pub fn held(&self) -> Option<HeldLock> {
        self.lock.as_ref().and_then(LockGuard::held)
    }

    /// Begins a run that changes things: from here on the journal records provider calls.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn begin_run(&mut self, state: &mut State) -> Result<Arc<Journal>, StateError> {
        let journal = self.state.begin_run(state)?;
        // A lost lock stops the journal, and with it every further provider call.
        if let Some(keeper) = self.lock.as_ref().and_then(LockGuard::keeper) {
            let stopped = journal.clone();
            keeper.on_loss(move |problem| stopped.stop(state_error(problem)));
        }
        Ok(journal)
    }

    /// Writes the state, and retires the journal.
    ///
    /// # Errors
    /// The store fails, or another run has written the state.
    pub fn save(&mut self, state: &mut State) -> Result<Saved, StateError> {
        self.state.save(state)
    }

    /// Writes a state with its own serial and lineage.
    ///
    /// # Errors
    /// As for [`RemoteHandle::save`].
    pub fn put(&mut self, state: &mut State) -> Result<Saved, StateError> {
        self.state.put(state)
    }

    /// Writes the state under the next serial, without a note that it is not shared. A run that has read the state before and lost its
    /// lock since cannot write any more, because the version is another one.
    ///
    /// # Errors
    /// As for [`RemoteHandle::save`].
    pub fn prepare_sharing(&mut self, state: &mut State) -> Result<Saved, StateError> {
        self.state.rewrite(state)
    }

    /// Writes what the journal has, where that was left for later.
    ///
    /// # Errors
    /// As for [`RemoteHandle::save`].
    pub fn catch_up(&mut self, state: &mut State) -> Result<(), StateError> {
        self.state.catch_up(state)
    }

    /// Copies the journal to the store now.
    #[cfg(test)]
    pub(super) fn replicate(&mut self) {
        self.state.replicate();
    }

    /// Whether the store does not have everything in the journal.
    #[cfg(test)]
    pub(super) fn is_journal_behind(&self) -> bool {
        self.state.is_journal_behind()
    }

    /// Returns the keeper of this run's lock.
    #[cfg(test)]
    pub(super) fn keeper(&self) -> Option<&Arc<super::keeper::Keeper>> {
        self.lock.as_ref().and_then(LockGuard::keeper)
    }

    /// Returns the reason why the store has no copy of the journal, if it refuses one.
    pub fn journal_refusal(&self) -> Option<StateError> {
        self.state.journal_refusal()
    }

    /// Whether the journal has every result of the run.
    pub fn is_in_journal(&self) -> bool {
        self.state.is_in_journal()
    }

    /// Deletes the workspace with its state, while its lock is held.
    ///
    /// # Errors
    /// The store fails.
    pub fn delete(self, backend: &RemoteBackend, workspace: &str) -> Result<(), StoreError> {
        let Self { state, lock } = self;
        // Dropped first, so that nothing writes the state after its deletion.
        drop(state);
        backend.delete_workspace(workspace, lock.as_ref().and_then(LockGuard::held).as_ref())
    }
}
