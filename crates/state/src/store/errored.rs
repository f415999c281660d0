//! The last resort: where a state goes that cannot be written where it belongs.

use std::path::{Path, PathBuf};

use super::open::write_whole;
use crate::error::StateError;
use crate::file;
use crate::model::State;

/// The name of that file, as in Terraform.
pub const ERRORED_STATE: &str = "errored.tfstate";

/// Writes `state` to `errored.tfstate` in `directory`; returns the path.
///
/// # Errors
/// When that cannot be written either.
pub fn write_errored(directory: &Path, state: &State) -> Result<PathBuf, StateError> {
    let path = directory.join(ERRORED_STATE);
    match write_whole(&path, &file::write(state)) {
        Ok(()) => Ok(path),
        Err(error) => Err(StateError::io("write", &path, &error)),
    }
}
