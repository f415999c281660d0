//! An open state: of a local file, or of a remote backend.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_backend::{HeldLock, OpenOptions, OpenedRemote, RemoteHandle, StoreError, Waiting};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_encryption::Encryption;
use groma_engine::{Cancellation, Plan, Run};
use groma_provider::TERRAFORM_VERSION;
use groma_state::{Journal, LocalStore, Locking, Opened, PlanVersions, Saved, State, StateError, StatePaths};

use super::super::context::Context;
use super::location::{RemoteLocation, StateLocation};
use super::shared::SharedHandle;

/// An open state. Dropping it releases the lock; a failure to do so is reported at the end of the command.
pub(in super::super) enum StateHandle {
    Local(Box<LocalStore>),
    Remote(Box<RemoteHandle>),
    Shared(Box<SharedHandle>),
}

impl StateLocation {
    /// Opens the state: takes the lock, reads the state, and recovers what an interrupted run has left.
    ///
    /// # Errors
    /// Another run holds the lock, or the state cannot be read.
    pub fn open(
        self,
        context: &Context,
        locking: &Locking,
        cancellation: Option<&Cancellation>,
    ) -> Result<(StateHandle, Opened), Diagnostics> {
        let waiting = LockWait { context, cancellation };
        let opened = match self {
            Self::Files(paths) => LocalStore::open(paths, TERRAFORM_VERSION, locking, &|| waiting.keep_waiting())
                .map(|(store, opened)| (StateHandle::Local(Box::new(store)), opened)),
            Self::Remote(remote) => remote.open(locking, &waiting),
        };
        opened.map_err(|problem| problem.diagnostic().into())
    }

    /// Opens the state as [`StateLocation::open`] does, if its store finds at once that runs do not share it; `None` if the sharing
    /// document has to be asked.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn open_unshared(
        &self,
        context: &Context,
        locking: &Locking,
        cancellation: &Cancellation,
    ) -> Result<Option<(StateHandle, Opened)>, Diagnostics> {
        let Self::Remote(remote) = self else { return Ok(None) };
        let waiting = LockWait { context, cancellation: Some(cancellation) };
        let opened = remote.backend.open_unshared(&remote.workspace, &remote.options(locking, &waiting));
        let opened = opened.map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        Ok(opened.map(|OpenedRemote { handle, opened }| (StateHandle::Remote(Box::new(handle)), opened)))
    }
}

impl RemoteLocation {
    fn open(self, locking: &Locking, waiting: &LockWait<'_>) -> Result<(StateHandle, Opened), StateError> {
        let OpenedRemote { handle, opened } = self.backend.open(&self.workspace, self.options(locking, waiting))?;
        Ok((StateHandle::Remote(Box::new(handle)), opened))
    }

    fn options<'a>(&'a self, locking: &'a Locking, waiting: &'a LockWait<'_>) -> OpenOptions<'a> {
        OpenOptions {
            locking,
            waiting,
            // The lock may be released by Drop, after the command has printed; the context prints that failure at the
            // end.
            report: waiting.context.release_report(),
            encryption: self.encryption.clone(),
            backup: self.backup.clone(),
            damaged_journal: self.damaged_journal,
            journals: &self.journals,
            terraform_version: TERRAFORM_VERSION,
            persist_intervals: self.persist_intervals,
        }
    }
}

/// Waits for a lock until the command is interrupted.
pub(super) struct LockWait<'a> {
    pub context: &'a Context,
    pub cancellation: Option<&'a Cancellation>,
}

impl Waiting for LockWait<'_> {
    fn keep_waiting(&self) -> bool {
        // Without a cancellation nobody can interrupt, and only the lock timeout ends the wait.
        self.cancellation.is_none_or(|cancellation| cancellation.state() == groma_engine::Stop::No)
    }

    fn is_slow(&self, message: &str) {
        self.context.report(&format!("{message}\n"));
    }
}

/// Returns the error about a lock that remains after the command.
pub(in super::super) fn unreleased(problem: &StoreError, held: &HeldLock, command: &str) -> Diagnostic {
    let detail = format!(
        "Error message: {}\n\nThe lock may still exist and block other runs. If it does, release it with:\n  {command} force-unlock {}",
        problem.detail(),
        held.id
    );
    Diagnostic::error("Error releasing the state lock", detail)
}

impl StateHandle {
    fn paths(&self) -> &StatePaths {
        match self {
            Self::Local(store) => store.paths(),
            Self::Remote(handle) => handle.paths(),
            Self::Shared(handle) => handle.paths(),
        }
    }

    /// Returns the encryption of the state.
    pub fn encryption(&self) -> Option<&Arc<Encryption>> {
        self.paths().encryption.as_ref()
    }

    /// Returns the backup, if its name is known.
    pub fn backup_path(&self) -> Option<&Path> {
        self.paths().backup.path()
    }

    /// Returns the state file; `None` for a remote state.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Local(store) => Some(&store.paths().write),
            Self::Remote(_) | Self::Shared(_) => None,
        }
    }

    /// Returns the file of the journal on this machine.
    pub fn journal_file(&self) -> PathBuf {
        self.paths().journal()
    }

    /// Returns the location for messages.
    pub fn location(&self) -> String {
        match self {
            Self::Local(store) => store.paths().write.display().to_string(),
            Self::Remote(handle) => handle.location(),
            Self::Shared(handle) => handle.location(),
        }
    }

    /// Returns the versions of the records that a plan uses; `None` if runs do not share the state.
    pub fn plan_versions(&self, run: &mut Run, plan: &Plan) -> Option<PlanVersions> {
        match self {
            Self::Shared(shared) => Some(shared.versions(run.records_of(plan))),
            Self::Local(_) | Self::Remote(_) => None,
        }
    }

    /// Begins a run that changes things.
    pub fn begin_run(&mut self, state: &mut State) -> Result<Arc<Journal>, StateError> {
        match self {
            Self::Local(store) => store.begin_run(state),
            Self::Remote(handle) => handle.begin_run(state),
            Self::Shared(handle) => handle.begin_run(state),
        }
    }

    /// Writes the state, unless the store has it already.
    pub fn save(&mut self, state: &mut State) -> Result<Saved, StateError> {
        match self {
            Self::Local(store) => store.save(state),
            Self::Remote(handle) => handle.save(state),
            Self::Shared(handle) => handle.save(state),
        }
    }

    /// Writes the state before runs begin to share it.
    pub fn prepare_sharing(&mut self, state: &mut State) -> Result<Saved, StateError> {
        match self {
            Self::Remote(handle) => handle.prepare_sharing(state),
            Self::Local(_) | Self::Shared(_) => self.save(state),
        }
    }

    /// Writes a state with its own serial and lineage.
    pub fn put(&mut self, state: &mut State) -> Result<Saved, StateError> {
        match self {
            Self::Local(store) => store.put(state),
            Self::Remote(handle) => handle.put(state),
            // A run replaces the records that it claims, never a whole state.
            Self::Shared(handle) => Err(StateError::unclaimed(&handle.location())),
        }
    }

    /// Writes what the journal has, where that was left for later.
    pub fn catch_up(&mut self, state: &mut State) -> Result<(), StateError> {
        match self {
            Self::Local(store) => store.catch_up(state),
            Self::Remote(handle) => handle.catch_up(state),
            Self::Shared(_) => Ok(()),
        }
    }

    /// Returns the reason why the store has no copy of the journal, if it refuses one.
    pub fn journal_refusal(&self) -> Option<StateError> {
        match self {
            Self::Local(_) => None,
            Self::Remote(handle) => handle.journal_refusal(),
            Self::Shared(handle) => handle.journal_refusal(),
        }
    }

    /// Whether the journal has every result of the run.
    pub fn is_in_journal(&self) -> bool {
        match self {
            Self::Local(store) => store.is_in_journal(),
            Self::Remote(handle) => handle.is_in_journal(),
            Self::Shared(handle) => handle.is_in_journal(),
        }
    }
}
