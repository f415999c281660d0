//! The copies of a state besides its file: the backup before the first change of a run, and `errored.tfstate`, the last resort for
//! a state that cannot be written to its file.

use std::path::{Path, PathBuf};

use groma_encryption::Encryption;

use super::open::{claim_backup, copy_whole, write_whole};
use super::paths::{Backup, StatePaths};
use super::sealed::{clear, sealed};
use crate::error::StateError;
use crate::file;
use crate::model::State;
use crate::random::random_bits;
use crate::storage::Storage;

/// Copies the content `old` of a state file to the backup. It `is_current` if it is sealed as the backup will be.
///
/// # Errors
/// The backup cannot be written.
pub(super) fn back_up(paths: &mut StatePaths, is_current: bool, old: &dyn Storage) -> Result<(), StateError> {
    // The name is claimed once, so that all backups of a run go to the same file.
    if paths.backup == Backup::New {
        let claimed = claim_backup(&paths.write).map_err(|error| {
            StateError::io("make a backup of", &paths.write, &error).with_advice("The state was left as it is.")
        })?;
        paths.backup = Backup::At(claimed);
    }
    let Some(backup) = paths.backup.path() else { return Ok(()) };
    // What was not sealed, or otherwise, is sealed in the backup as it will be in the file.
    let copied = if is_current {
        copy_whole(backup, &paths.write, old)
    } else {
        let bytes = old.read_all().map_err(|error| StateError::io("read", &paths.write, &error))?;
        let content = clear(paths, &paths.write, &bytes)?.bytes.into_owned();
        write_whole(backup, &sealed(paths.encryption.as_deref(), content)?)
    };
    copied.map_err(|error| {
        StateError::io("write", backup, &error).with_advice(
            "This is the backup of the state, which is made before the state is changed. With -backup=- none is made.",
        )
    })
}

/// The name of that file, as in Terraform.
pub const ERRORED_STATE: &str = "errored.tfstate";

/// Writes `state` to `errored.tfstate` in `directory`, sealed as the state is; returns the path.
///
/// # Errors
/// When that cannot be written either.
pub fn write_errored(directory: &Path, state: &State, encryption: Option<&Encryption>) -> Result<PathBuf, StateError> {
    let path = directory.join(ERRORED_STATE);
    write_at(path, &sealed_state(state, encryption)?)
}

/// Writes `state` to a new file in `directory`, which others may write in too, sealed as the state is; returns the path.
///
/// # Errors
/// When that cannot be written either.
pub fn write_errored_in_shared(
    directory: &Path,
    state: &State,
    encryption: Option<&Encryption>,
) -> Result<PathBuf, StateError> {
    // Nobody can have put anything under a name that nobody knows.
    let path = directory.join(format!("errored.{:016x}.tfstate", random_bits()));
    write_at(path, &sealed_state(state, encryption)?)
}

/// Returns the content of a file with `state`, sealed as the state is.
///
/// # Errors
/// When there is no key for it.
pub fn sealed_state(state: &State, encryption: Option<&Encryption>) -> Result<Vec<u8>, StateError> {
    sealed(encryption, file::write(state))
}

fn write_at(path: PathBuf, bytes: &[u8]) -> Result<PathBuf, StateError> {
    match write_whole(&path, bytes) {
        Ok(()) => Ok(path),
        Err(error) => Err(StateError::io("write", &path, &error)),
    }
}
