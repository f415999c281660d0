//! The location of a state: files, or a workspace of a remote backend.

use std::path::PathBuf;
use std::sync::Arc;

use groma_backend::{RemoteBackend, StoreError};
use groma_diagnostics::Diagnostics;
use groma_encryption::Encryption;
use groma_state::{Backup, DamagedJournal, PersistIntervals, StatePaths};

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
