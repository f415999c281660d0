//! The location of a state: files, or a workspace of a remote backend.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use groma_backend::{RemoteBackend, StoreError};
use groma_diagnostics::Diagnostics;
use groma_encryption::Encryption;
use groma_provider::TERRAFORM_VERSION;
use groma_state::{
    Backup, DamagedJournal, LeaveReport, LocalShared, PersistIntervals, Replicating, SharedObject, SharedOptions,
    StatePaths,
};

use super::super::outcome::fail;

/// The intervals at which a shared run writes a local state. Its journal is as safe as the state itself, and each write merges the
/// whole state.
const LOCAL_INTERVALS: PersistIntervals =
    PersistIntervals { with_journal: Duration::from_secs(20), without_journal: Duration::from_secs(20) };

/// The location of a state.
#[derive(Clone)]
pub(in super::super) enum StateLocation {
    Files(StatePaths),
    Remote(RemoteLocation),
}

/// A workspace of a remote backend.
#[derive(Clone)]
pub(in super::super) struct RemoteLocation {
    pub backend: RemoteBackend,
    pub workspace: String,
    pub encryption: Option<Arc<Encryption>>,
    pub backup: Backup,
    pub damaged_journal: DamagedJournal,
    /// The directory of journals on this machine.
    pub journals: PathBuf,
    pub persist_intervals: PersistIntervals,
}

impl StateLocation {
    /// Returns the encryption of the state.
    pub fn encryption(&self) -> Option<Arc<Encryption>> {
        match self {
            Self::Files(paths) => paths.encryption.clone(),
            Self::Remote(remote) => remote.encryption.clone(),
        }
    }

    /// Returns the backup of the state before its first change.
    pub fn backup(&self) -> &Backup {
        match self {
            Self::Files(paths) => &paths.backup,
            Self::Remote(remote) => &remote.backup,
        }
    }

    /// Sets the backup of the state before its first change.
    pub fn with_backup(self, backup: Backup) -> Self {
        match self {
            Self::Files(paths) => Self::Files(paths.with_backup(backup)),
            Self::Remote(remote) => Self::Remote(RemoteLocation { backup, ..remote }),
        }
    }

    /// Sets the answer to a damaged journal.
    pub fn with_damaged_journal(self, damaged_journal: DamagedJournal) -> Self {
        match self {
            Self::Files(paths) => Self::Files(paths.with_damaged_journal(damaged_journal)),
            Self::Remote(remote) => Self::Remote(RemoteLocation { damaged_journal, ..remote }),
        }
    }

    /// Returns the location for messages, without secrets.
    pub fn shown(&self) -> String {
        match self {
            Self::Files(paths) => paths.read.display().to_string(),
            Self::Remote(remote) => remote.backend.location(&remote.workspace),
        }
    }

    /// Whether a state exists. An empty object does not count, but the journal of a killed run does.
    ///
    /// # Errors
    /// The store of a remote backend fails.
    pub fn has_state(&self) -> Result<bool, Diagnostics> {
        match self {
            Self::Files(paths) => {
                // Terraform creates empty state files to lock them, so an empty file is no state.
                Ok(std::fs::metadata(&paths.read).is_ok_and(|file| file.len() > 0) || paths.journal().exists())
            }
            Self::Remote(remote) => {
                // Results that only the journal has would be lost if the state counted as missing.
                if remote.backend.has_journal(&remote.journals, &remote.workspace) {
                    return Ok(true);
                }
                let found = remote.backend.read(&remote.workspace).map_err(|problem| diagnostics(&problem))?;
                Ok(found.is_some_and(|found| !found.bytes.is_empty()))
            }
        }
    }

    /// Returns the journal on this machine of a run that could not write its results to the state; `None` without one.
    pub fn left_journal(&self) -> Option<PathBuf> {
        let journal = match self {
            Self::Files(paths) => paths.journal(),
            Self::Remote(remote) => remote.backend.exclusive_journal(&remote.journals, &remote.workspace),
        };
        std::fs::metadata(&journal).is_ok_and(|file| file.len() > 0).then_some(journal)
    }

    /// Returns the state as an object that runs can share.
    ///
    /// # Errors
    /// The backend cannot share states; the error says why.
    pub fn shared_object(&self) -> Result<Arc<dyn SharedObject>, Diagnostics> {
        match self {
            Self::Files(paths) if paths.read != paths.write => Err(fail(
                "Sharing not supported",
                "-state-out writes another file than the one that is read, so the state cannot be shared. Remove the flag.",
            )),
            Self::Files(paths) => Ok(Arc::new(LocalShared::new(paths.clone()))),
            Self::Remote(remote) => remote.backend.shared(&remote.workspace).map_err(|problem| diagnostics(&problem)),
        }
    }

    /// Returns the settings of shared runs. `report` gets problems with leaving them.
    pub fn shared_options(&self, report: LeaveReport) -> SharedOptions {
        let (paths, runs, journal, persist_intervals) = match self {
            Self::Files(paths) => {
                (paths.clone(), LocalShared::new(paths.clone()).runs(), paths.journal(), LOCAL_INTERVALS)
            }
            Self::Remote(remote) => (
                StatePaths::of_file("terraform.tfstate")
                    .with_backup(remote.backup.clone())
                    .encrypted(remote.encryption.clone())
                    .with_damaged_journal(remote.damaged_journal),
                remote.backend.shared_runs(&remote.journals, &remote.workspace),
                remote.backend.exclusive_journal(&remote.journals, &remote.workspace),
                remote.persist_intervals,
            ),
        };
        SharedOptions {
            paths,
            runs,
            journal,
            terraform_version: TERRAFORM_VERSION.to_owned(),
            persist_intervals: Some(persist_intervals),
            replicating: Replicating::Background,
            report,
        }
    }

    /// Whether both are the same object, however they are configured.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Files(one), Self::Files(other)) => {
                // A path may be written differently and still name the same file.
                let canonical = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
                canonical(&one.write) == canonical(&other.write)
            }
            (Self::Remote(one), Self::Remote(other)) => {
                // The location names everything that selects the object.
                one.backend.ty().name == other.backend.ty().name
                    && one.backend.location(&one.workspace) == other.backend.location(&other.workspace)
            }
            _ => false,
        }
    }
}

/// Returns the failure of a store as diagnostics.
pub(in super::super) fn diagnostics(problem: &StoreError) -> Diagnostics {
    problem.diagnostic().into()
}
