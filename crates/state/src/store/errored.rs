//! The last resort: where a state goes that cannot be written where it belongs.

use std::path::{Path, PathBuf};

use groma_encryption::Encryption;

use super::open::write_whole;
use super::sealed::sealed;
use crate::error::StateError;
use crate::file;
use crate::model::State;

/// The name of that file, as in Terraform.
pub const ERRORED_STATE: &str = "errored.tfstate";

/// Writes `state` to `errored.tfstate` in `directory`, sealed as the state is; returns the path.
///
/// # Errors
/// When that cannot be written either.
pub fn write_errored(directory: &Path, state: &State, encryption: Option<&Encryption>) -> Result<PathBuf, StateError> {
    let path = directory.join(ERRORED_STATE);
    let bytes = sealed(encryption, file::write(state))?;
    match write_whole(&path, &bytes) {
        Ok(()) => Ok(path),
        Err(error) => Err(StateError::io("write", &path, &error)),
    }
}
