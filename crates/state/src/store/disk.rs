//! The last known content of a state file, and comparison with a new content.

use std::io;
use std::path::Path;

use super::paths::StatePaths;
use super::sealed::clear;
use crate::content::Content;
use crate::error::{StateError, StateErrorKind};
use crate::file::{self, Written, write_parts};
use crate::model::State;
use crate::storage::Storage;

/// The last known content of the file that is written to.
pub(super) struct Disk {
    /// By length and checksum; an empty file and a missing one are the same.
    pub content: Content,
    /// Whether a state could be read from it.
    pub is_state: bool,
    /// Of the state that was read, which `-state` may have taken from another file.
    pub serial: u64,
    pub from_nothing: bool,
    /// Whether the file was read from another path, so that it has to be written in any case.
    pub is_other_file: bool,
    /// Whether the writer of the file uses the layout of this program.
    pub has_own_layout: bool,
    /// Whether it is sealed as it would be sealed now.
    pub is_current: bool,
    /// Whether it is a checkpoint of this run.
    pub is_checkpoint: bool,
}

impl Disk {
    /// Returns the content after reading: `bytes` of the file, and `state` after folding in the journal.
    pub fn of(bytes: &[u8], is_state: bool, state: Option<&State>) -> Self {
        Self {
            content: Content::of(bytes),
            is_state,
            serial: state.map_or(0, |state| state.serial),
            from_nothing: state.is_none(),
            is_other_file: false,
            has_own_layout: false,
            is_current: true,
            is_checkpoint: false,
        }
    }

    /// A state that was written here.
    pub fn written(content: Content) -> Self {
        Self {
            content,
            is_state: true,
            serial: 0,
            from_nothing: false,
            is_other_file: false,
            has_own_layout: true,
            is_current: true,
            is_checkpoint: false,
        }
    }

    /// Whether the file says what the new content would, apart from serial and writer.
    ///
    /// # Errors
    /// When it is not as it was when it was read.
    pub fn holds(&self, paths: &StatePaths, file: &dyn Storage, new: &Written) -> Result<bool, StateError> {
        let failed = |error: io::Error| StateError::io("read", &paths.write, &error);
        // Sealing the same content twice gives different bytes, so the clear content is compared.
        if paths.encryption.is_some() {
            return self.holds_sealed(paths, &file.read_all().map_err(failed)?, new);
        }
        // One pass gives both answers, since a large file takes long to read.
        let (content, is_same) = compare(file, &[&new.head(self.serial), &new.rest]).map_err(failed)?;
        if content != self.content {
            return Err(changed_meanwhile(&paths.write));
        }
        // A state that was read from another path is written in any case.
        if self.is_other_file || is_same {
            return Ok(is_same && !self.is_other_file);
        }
        // A file from this version, or from the Terraform version that it is compatible with, has the layout of the new content, so
        // their difference is one of content. Others are brought to that layout first.
        match self.has_own_layout {
            true => Ok(false),
            false => {
                Ok(file::read(&file.read_all().map_err(failed)?).is_ok_and(|old| write_parts(&old).rest == new.rest))
            }
        }
    }

    /// Compares the new content with a file that may be encrypted.
    fn holds_sealed(&self, paths: &StatePaths, bytes: &[u8], new: &Written) -> Result<bool, StateError> {
        if Content::of(bytes) != self.content {
            return Err(changed_meanwhile(&paths.write));
        }
        // A file that is sealed differently than now is written again even if the state is unchanged.
        if self.is_other_file || !self.is_current {
            return Ok(false);
        }
        let content = clear(paths, &paths.write, bytes)?.bytes;
        let head = new.head(self.serial);
        if content.strip_prefix(&head[..]).is_some_and(|rest| rest == new.rest) {
            return Ok(true);
        }
        Ok(!self.has_own_layout && file::read(&content).is_ok_and(|old| write_parts(&old).rest == new.rest))
    }
}

/// Returns the content of the file, and whether it equals `parts`.
fn compare(file: &dyn Storage, parts: &[&[u8]]) -> io::Result<(Content, bool)> {
    let mut hasher = crc32fast::Hasher::new();
    let (mut length, mut is_same) = (0, true);
    // In chunks, without empty parts, which would look like the end.
    let mut expected = parts.iter().flat_map(|part| part.chunks(1 << 16)).peekable();
    let mut rest: &[u8] = &[];
    file.read_pieces(&mut |piece| {
        hasher.update(piece);
        length += piece.len() as u64;
        let mut piece = piece;
        while is_same && !piece.is_empty() {
            if rest.is_empty() {
                rest = expected.next().unwrap_or_default();
            }
            let common = rest.len().min(piece.len());
            is_same = common > 0 && rest[..common] == piece[..common];
            rest = &rest[common..];
            piece = &piece[common..];
        }
        Ok(())
    })?;
    // A file that is only the beginning of the new content differs.
    is_same &= rest.is_empty() && expected.next().is_none();
    Ok((Content { length, checksum: hasher.finalize() }, is_same))
}

pub(super) fn changed_meanwhile(path: &Path) -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "State file changed by another process",
        format!(
            "{} is not as it was when this run read it: something that does not take the lock wrote it meanwhile. It was \
             left as it is, so that neither result is lost.",
            path.display()
        ),
    )
}
