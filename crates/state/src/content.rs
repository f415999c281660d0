//! The content of a file as a whole, of which a reader never takes a part for all of it.

use std::io;
use std::thread;

use crate::early_sync::EarlySync;
use crate::file::Take;
use crate::storage::Storage;

/// The content of a file, by which it is recognized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub length: u64,
    pub checksum: u32,
}

impl Content {
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_parts(&[bytes])
    }

    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        parts.iter().for_each(|part| hasher.update(part));
        Self { length: parts.iter().map(|part| part.len() as u64).sum(), checksum: hasher.finalize() }
    }

    pub fn of_file(storage: &dyn Storage) -> io::Result<Self> {
        let mut hasher = crc32fast::Hasher::new();
        let mut length = 0;
        storage.read_pieces(&mut |piece| {
            hasher.update(piece);
            length += piece.len() as u64;
            Ok(())
        })?;
        Ok(Self { length, checksum: hasher.finalize() })
    }
}

/// Replaces the content of a file in place, and waits until it is on the disk.
///
/// # Errors
/// Fails like [`put_content`].
pub(crate) fn replace_content(storage: &dyn Storage, parts: &[&[u8]]) -> io::Result<()> {
    put_content(storage, parts)?;
    storage.sync()
}

/// Replaces the content of a file in place, so that processes that have it open see the new content.
///
/// While that lasts the file does not begin with its first byte, so nobody takes a mixture of old and new for valid. This
/// takes as long as copying the content in memory does: a process that is killed rarely leaves such a file. Nothing is known
/// of the order in which the parts reach the disk, so the new content, or a way to it, has to be on the disk before.
///
/// # Errors
/// Fails if the disk is full or faulty. If there was no room from the beginning on, the old content is still there.
pub(crate) fn put_content(storage: &dyn Storage, parts: &[&[u8]]) -> io::Result<()> {
    let length: u64 = parts.iter().map(|part| part.len() as u64).sum();
    if length > storage.length()? {
        storage.reserve(length)?;
    }
    let Some(first) = parts.iter().find_map(|part| part.first()) else { return storage.set_length(0) };
    storage.write_at(&[UNFINISHED], 0)?;
    let mut offset = 0;
    for part in parts {
        let skipped = usize::from(offset == 0 && !part.is_empty());
        storage.write_at(&part[skipped..], offset + skipped as u64)?;
        offset += part.len() as u64;
    }
    storage.set_length(length)?;
    storage.write_at(&[*first], 0)
}

/// Fills a file with the pieces that `write` passes on, in the way of [`put_content`], up to the last step. A long content is on
/// its way to the disk while the rest is still made.
///
/// # Errors
/// Fails if the disk is full or faulty; then the file is empty again, if that is possible.
pub(crate) fn fill_content(
    storage: &dyn Storage,
    write: impl FnOnce(&mut Take<'_>) -> io::Result<()>,
) -> io::Result<Filled<'_>> {
    let mut hasher = crc32fast::Hasher::new();
    let mut length = 0;
    let mut first = None;
    let ended = thread::scope(|scope| {
        let mut sender = EarlySync::of(storage, scope);
        write(&mut |piece| {
            hasher.update(piece);
            let rest = match first {
                None => {
                    let Some((begin, rest)) = piece.split_first() else { return Ok(()) };
                    first = Some(*begin);
                    storage.write_at(&[UNFINISHED], 0)?;
                    length = 1;
                    rest
                }
                Some(_) => piece,
            };
            storage.write_at(rest, length)?;
            length += rest.len() as u64;
            sender.written(length);
            Ok(())
        })?;
        storage.set_length(length)?;
        storage.sync()
    });
    let filled = Filled { storage, content: Content { length, checksum: hasher.finalize() }, first };
    match ended {
        Ok(()) => Ok(filled),
        Err(error) => {
            filled.give_up();
            Err(error)
        }
    }
}

/// A file that has all of its content but the first byte.
#[must_use]
pub(crate) struct Filled<'a> {
    storage: &'a dyn Storage,
    content: Content,
    first: Option<u8>,
}

impl Filled<'_> {
    /// Has the file begin with its first byte, when its content is safe elsewhere; returns the content.
    ///
    /// # Errors
    /// Fails if the disk is faulty; then the file is empty again, if that is possible.
    pub fn finish(self) -> io::Result<Content> {
        let written = self.first.map_or(Ok(()), |first| self.storage.write_at(&[first], 0));
        if let Err(error) = written.and_then(|()| self.storage.sync()) {
            self.give_up();
            return Err(error);
        }
        Ok(self.content)
    }

    /// Truncates the file to zero bytes.
    pub fn give_up(self) {
        // Best effort: the first bytes of the file already mark it as unfinished.
        let _ = self.storage.set_length(0);
    }
}

/// The first bytes of a file while its content is replaced. No JSON document begins like this.
const UNFINISHED: u8 = b'#';

/// Whether a content was being replaced when the process or the machine stopped. A machine may stop before the first part
/// of a new file has reached the disk, and leave zeros there.
pub(crate) fn is_unfinished(content: &[u8]) -> bool {
    matches!(content.first(), Some(&(UNFINISHED | 0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::faulty::Faulty;

    #[test]
    fn a_stopped_replacement_leaves_the_old_the_new_or_something_no_reader_takes_for_valid() {
        for (old, new) in
            [("{old content}", "{new}"), ("{old}", "{new content}"), ("", "{new}"), ("{same1}", "{same2}")]
        {
            for room in 0..=new.len() + 2 {
                let file = Faulty::with(old.as_bytes(), Some(room));
                let result = replace_content(&file, &[b"", &new.as_bytes()[..2], &new.as_bytes()[2..]]);
                let found = file.bytes();
                match result {
                    Ok(()) => assert_eq!(found, new.as_bytes()),
                    Err(_) if room == 0 => assert_eq!(found, old.as_bytes()),
                    Err(_) => assert_eq!(found[0], UNFINISHED, "{room}"),
                }
            }
        }
    }

    #[test]
    fn without_room_for_a_longer_content_nothing_is_touched() {
        let file = Faulty::with(b"{old}", Some(3));
        file.0.lock().unwrap().reserves = true;
        let error = replace_content(&file, &[b"{a longer content}"]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(file.bytes(), b"{old}");
    }

    #[test]
    fn a_file_is_filled_piece_by_piece_or_stays_empty() {
        let pieces: [&[u8]; 4] = [b"", b"{\"a\"", b":1", b"}"];
        for room in 0..=10 {
            let file = Faulty::with(b"", Some(room));
            let filled = fill_content(&file, |take| pieces.iter().try_for_each(|piece| take(piece)));
            let filled = filled.and_then(Filled::finish);
            // The first byte is written twice.
            if room < 8 {
                assert!(filled.is_err(), "{room}");
                assert!(file.bytes().is_empty() || file.bytes()[0] == UNFINISHED, "{room}");
            } else {
                assert_eq!(filled.unwrap(), Content::of(b"{\"a\":1}"));
                assert_eq!(file.bytes(), b"{\"a\":1}");
            }
        }
    }

    #[test]
    fn a_real_file_is_replaced_in_place() {
        let file = tempfile::tempfile().unwrap();
        for content in ["{\"long\":1}", "{}", "", "{\"longer\":12}"] {
            replace_content(&file, &[content.as_bytes()]).unwrap();
            assert_eq!(file.read_all().unwrap(), content.as_bytes());
        }
    }
}
