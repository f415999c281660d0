//! The backup of a state file, which is made before the first change of a run.

use super::open::{claim_backup, copy_whole, write_whole};
use super::paths::{Backup, StatePaths};
use super::sealed::{clear, sealed};
use crate::error::StateError;
use crate::storage::Storage;

/// Copies the content `old` of a state file to the backup. It `is_current` if it is sealed as the backup will be.
///
/// # Errors
/// The backup cannot be written.
pub(super) fn back_up(paths: &mut StatePaths, is_current: bool, old: &dyn Storage) -> Result<(), StateError> {
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
