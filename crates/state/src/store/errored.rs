//! The last resort: where a state goes that cannot be written where it belongs.

use std::path::{Path, PathBuf};

use groma_encryption::Encryption;

use super::open::write_whole;
use super::sealed::sealed;
use crate::error::StateError;
use crate::file;
use crate::model::State;
use crate::random::random_bits;

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
