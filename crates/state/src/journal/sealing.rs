//! Sealed journals: a layer between the records and the bytes of the file.
//!
//! A frame that says which key follows, and frames that hold sealed records, stand between frames with records in clear:
//! a state may begin to be encrypted, or cease to be, while calls of a killed run are still noted.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use groma_encryption::{Encryption, EncryptionError, Keyring};

use super::MAGIC;
use super::form;
use super::frame::{self, Frame, Frames};
use crate::error::{StateError, StateErrorKind};

/// The first bytes of a journal whose first record is encrypted.
pub(super) const SEALED_MAGIC: &[u8] = b"groma journal 2 sealed\n";

/// The first byte of a frame with the notes about a key; without notes what follows is in clear. No record begins so.
pub(super) const KEY: u8 = 0;

/// The first byte of a frame with sealed records.
pub(super) const SEALED: u8 = 0xff;

/// The encoding of records in the file.
#[derive(Default)]
pub(crate) struct Seal {
    keyring: Option<Arc<Keyring>>,
    /// Whether the file header does not mark the records as encrypted yet.
    is_news: bool,
}

impl Seal {
    /// Sealed by `keyring`, or in clear, in a file whose last records are sealed, or not.
    pub(crate) fn new(keyring: Option<Arc<Keyring>>, tail: Tail) -> Self {
        Self { is_news: keyring.is_some() || tail == Tail::Sealed, keyring }
    }

    /// Encodes `records` for writing at `end` of the file.
    pub(super) fn bytes<'a>(&self, end: u64, records: &'a [u8]) -> Result<Cow<'a, [u8]>, StateError> {
        // The usual case costs no copy.
        if !self.is_news && self.keyring.is_none() {
            return Ok(Cow::Borrowed(records));
        }
        let mut bytes = Vec::with_capacity(records.len() + 64);
        // The header is written once, with the first records under a new key.
        if self.is_news {
            if end == 0 {
                bytes.extend_from_slice(SEALED_MAGIC);
            }
            frame::append(&mut bytes, |out| {
                out.push(KEY);
                out.extend(self.keyring.iter().flat_map(|keyring| keyring.metadata_json()));
            });
        }
        match &self.keyring {
            None => bytes.extend_from_slice(records),
            Some(keyring) => {
                let sealed = keyring.seal(records).map_err(failed)?;
                frame::append(&mut bytes, |out| {
                    out.push(SEALED);
                    out.extend_from_slice(&sealed);
                });
            }
        }
        Ok(Cow::Owned(bytes))
    }

    /// The bytes are in the file.
    pub(super) fn written(&mut self) {
        self.is_news = false;
    }

    pub(super) fn keyring(&self) -> Option<Arc<Keyring>> {
        self.keyring.clone()
    }

    pub(super) fn is_clear(&self) -> bool {
        self.keyring.is_none()
    }
}

/// The encoding of the last records in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tail {
    /// In plaintext.
    #[default]
    Clear,
    /// Encrypted.
    Sealed,
}

/// A journal in clear.
pub(crate) struct Unsealed<'a> {
    pub bytes: Cow<'a, [u8]>,
    pub tail: Tail,
    /// Returns the end of the complete frames in a file with encrypted records.
    pub end: Option<u64>,
}

/// The journal in clear.
///
/// # Errors
/// Fails if the journal is encrypted and no key fits.
pub(crate) fn unseal<'a>(bytes: &'a [u8], encryption: Option<&Encryption>) -> Result<Unsealed<'a>, StateError> {
    let start = match (bytes.strip_prefix(SEALED_MAGIC), bytes.strip_prefix(MAGIC)) {
        (Some(_), _) => SEALED_MAGIC.len(),
        (None, Some(content)) if has_key(content) => MAGIC.len(),
        // What was stopped within its first bytes says nothing yet.
        _ if SEALED_MAGIC.starts_with(bytes) && !MAGIC.starts_with(bytes) => bytes.len(),
        _ => return Ok(Unsealed { bytes: Cow::Borrowed(bytes), tail: Tail::Clear, end: None }),
    };
    let mut opener = Opener { encryption, keyring: None, clear: MAGIC.to_vec(), is_damaged: false };
    let mut frames = Frames::new(bytes, start);
    for frame in frames.by_ref() {
        match frame {
            Frame::Whole(payload) => opener.take(payload)?,
            Frame::Damaged(range) => opener.lose(range),
        }
    }
    let tail = if opener.keyring.is_some() { Tail::Sealed } else { Tail::Clear };
    Ok(Unsealed { bytes: Cow::Owned(opener.clear), tail, end: Some(frames.end()) })
}

/// Opens the frames of a sealed file in their order.
struct Opener<'a> {
    encryption: Option<&'a Encryption>,
    keyring: Option<Arc<Keyring>>,
    clear: Vec<u8>,
    is_damaged: bool,
}

impl Opener<'_> {
    fn take(&mut self, payload: &[u8]) -> Result<(), StateError> {
        match payload.split_first() {
            // Empty metadata announces that the following records are in plaintext.
            Some((&KEY, [])) => self.keyring = None,
            Some((&KEY, notes)) => {
                // Without a configured encryption the records of the interrupted run would be lost silently.
                let encryption = self.encryption.ok_or_else(without_encryption)?;
                self.keyring = Some(encryption.chunk_keyring(notes).map_err(failed)?);
            }
            Some((&SEALED, sealed)) => match &self.keyring {
                Some(keyring) => {
                    let records = keyring.open(sealed).ok_or_else(another_key)?.1;
                    // The first records of a file begin with what a file in clear begins with.
                    self.clear.extend_from_slice(records.strip_prefix(MAGIC).unwrap_or(&records));
                }
                // The notes about its key may be what is damaged.
                None if self.is_damaged => self.lose(0..0),
                None => return Err(another_key()),
            },
            _ => frame::append(&mut self.clear, |out| out.extend_from_slice(payload)),
        }
        Ok(())
    }

    /// Replaces unreadable bytes by a record that makes the reader report them.
    fn lose(&mut self, range: Range<u64>) {
        self.is_damaged = true;
        frame::append(&mut self.clear, |out| form::encode_abandoned(&range, out));
    }
}

/// Whether a frame holds key metadata. Reads only the lengths of frames, because most journals have none.
fn has_key(mut content: &[u8]) -> bool {
    while let Some(payload) = frame::leap(&mut content) {
        // A journal can change between plaintext and encryption several times, so all frames are looked through.
        if payload.first() == Some(&KEY) {
            return true;
        }
    }
    false
}

pub(crate) fn failed(error: EncryptionError) -> StateError {
    StateError::new(StateErrorKind::Unsupported, error.summary, error.detail)
}

fn without_encryption() -> StateError {
    StateError::new(
        StateErrorKind::Unsupported,
        "Encrypted journal",
        "A run that encrypted its state was interrupted, and what it did is in an encrypted journal next to the state file. Put the \
         encryption block back with which it ran, and run the command again.",
    )
}

fn another_key() -> StateError {
    StateError::new(
        StateErrorKind::Unsupported,
        "Decryption failed for all provided methods",
        "The journal of an interrupted run, next to the state file, is encrypted with another key. Add the method of that run to the \
         encryption block, as a fallback.",
    )
}
