//! State files that are sealed, or not.

use std::borrow::Cow;
use std::path::Path;

use bytes::Bytes;
use groma_encryption::{Encryption, Lineage, is_sealed};

use super::paths::StatePaths;
use crate::content::is_unfinished;
use crate::error::{StateError, StateErrorKind};
use crate::file;
use crate::journal::failed;
use crate::model::State;

/// The decrypted content of a file.
pub(super) struct Clear<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// Whether the file is sealed as it would be now, so that it can stay as it is.
    pub is_current: bool,
}

/// The content of the file at `path`, which is one of `paths`.
pub(super) fn clear<'a>(paths: &StatePaths, path: &Path, bytes: &'a [u8]) -> Result<Clear<'a>, StateError> {
    // Blank and unfinished files are no envelopes; the reader of states explains them.
    let Some(encryption) = paths.encryption.as_deref().filter(|_| !file::is_blank(bytes) && !is_unfinished(bytes))
    else {
        return Ok(Clear { bytes: Cow::Borrowed(bytes), is_current: true });
    };
    let opened = open(encryption, bytes).map_err(|error| error.in_file(path))?;
    Ok(Clear { bytes: Cow::Owned(opened.content), is_current: opened.is_current })
}

fn open(encryption: &Encryption, bytes: &[u8]) -> Result<groma_encryption::Opened, StateError> {
    let opened = encryption.open(bytes, "state").map_err(failed)?;
    // The envelope repeats both, readable without a key, so an attacker could combine it with another content.
    if let Some(outside) = &opened.lineage {
        let inside = lineage(&opened.content);
        let differs = outside.serial.is_some_and(|serial| inside.serial != Some(serial))
            || !outside.lineage.is_empty() && outside.lineage != inside.lineage;
        if differs {
            return Err(StateError::new(
                StateErrorKind::Malformed,
                "Invalid state metadata",
                "What the encrypted state file says of its serial and lineage is not what the state in it says: the file was put \
                 together from two. Restore it from a backup.",
            ));
        }
    }
    Ok(opened)
}

/// The bytes of a stored state with this content. Without encryption, they share its memory.
pub(super) fn sealed_bytes(encryption: Option<&Encryption>, content: &Bytes) -> Result<Bytes, StateError> {
    match encryption.filter(|encryption| encryption.seals()) {
        None => Ok(content.clone()),
        Some(encryption) => encryption.seal(content, Some(&lineage(content))).map(Bytes::from).map_err(failed),
    }
}

/// The bytes of a state file with this content.
pub(super) fn sealed(encryption: Option<&Encryption>, content: Vec<u8>) -> Result<Vec<u8>, StateError> {
    match encryption.filter(|encryption| encryption.seals()) {
        None => Ok(content),
        Some(encryption) => encryption.seal(&content, Some(&lineage(&content))).map_err(failed),
    }
}

/// Returns the lineage in a decrypted state.
fn lineage(content: &[u8]) -> Lineage {
    // Content that is no state has no lineage; its reader reports what is wrong.
    serde_json::from_slice(content).unwrap_or(Lineage { serial: None, lineage: String::new() })
}

/// Reads a state file that somebody brings along: in clear, or sealed as the states of this configuration are.
///
/// # Errors
/// As for [`file::read`], and when it is sealed and cannot be opened.
pub fn read_sealed(bytes: &[u8], encryption: Option<&Encryption>) -> Result<State, StateError> {
    match encryption.filter(|_| is_sealed(bytes)) {
        None => file::read(bytes),
        Some(encryption) => file::read(&open(encryption, bytes)?.content),
    }
}
