//! Reading a journal while it is written.

use std::io;
use std::sync::Arc;

use groma_encryption::Keyring;

use super::MAGIC;
use super::frame::{Frame, Frames};
use super::read::{Event, Reader};
use super::sealing::{KEY, SEALED, SEALED_MAGIC};
use crate::storage::Storage;

/// Follows the records of the run that writes a journal, from a thread of the same process.
pub(crate) struct Follower {
    storage: Arc<dyn Storage>,
    position: u64,
    keyring: Option<Arc<Keyring>>,
    reader: Reader,
}

impl Follower {
    pub(super) fn new(storage: Arc<dyn Storage>, position: u64, keyring: Option<Arc<Keyring>>) -> Self {
        Self { storage, position, keyring, reader: Reader::default() }
    }

    /// Returns what happened up to `end`, where a record ends, since the last call.
    ///
    /// # Errors
    /// The file cannot be read, or was changed by another process.
    pub fn read_to(&mut self, end: u64) -> io::Result<Vec<Event>> {
        let length = usize::try_from(end.saturating_sub(self.position)).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        if self.storage.read_at(&mut bytes, self.position)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let magics = [SEALED_MAGIC, MAGIC].into_iter().filter(|_| self.position == 0);
        let start = magics.filter(|magic| bytes.starts_with(magic)).map(<[u8]>::len).next().unwrap_or_default();
        self.take_frames(&bytes, start)?;
        self.position = end;
        Ok(self.reader.drain())
    }

    fn take_frames(&mut self, bytes: &[u8], start: usize) -> io::Result<()> {
        for frame in Frames::new(bytes, start) {
            let Frame::Whole(payload) = frame else { return Err(io::ErrorKind::InvalidData.into()) };
            match (payload.split_first(), &self.keyring) {
                (Some((&KEY, _)), _) => {}
                (Some((&SEALED, sealed)), Some(keyring)) => {
                    let (_, records) = keyring.open(sealed).ok_or(io::ErrorKind::InvalidData)?;
                    let start = if records.starts_with(MAGIC) { MAGIC.len() } else { 0 };
                    self.take_frames(&records, start)?;
                }
                _ => self.reader.read(payload).ok_or(io::ErrorKind::InvalidData)?,
            }
        }
        Ok(())
    }
}
