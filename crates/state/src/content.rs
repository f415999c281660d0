//! The content of a file as a whole, of which a reader never takes a part for all of it.

use std::ops::Range;
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, Scope};
use std::{io, thread};

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
        // The checksum does not depend on the division into parts.
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
    // Room is reserved before the old content is touched, so that a full disk leaves it intact.
    if length > storage.length()? {
        storage.reserve(length)?;
    }
    let Some(first) = parts.iter().find_map(|part| part.first()) else { return storage.set_length(0) };
    storage.write_at(&[UNFINISHED], 0)?;
    let mut offset = 0;
    for part in parts {
        // The first byte stays the marker until everything else is written.
        let skipped = usize::from(offset == 0 && !part.is_empty());
        storage.write_at(&part[skipped..], offset + skipped as u64)?;
        offset += part.len() as u64;
    }
    // A shorter content must not be followed by the rest of the old one.
    storage.set_length(length)?;
    storage.write_at(&[*first], 0)
}

/// Replaces the content of a file by `length` bytes that `write` passes on piece by piece, in the way of [`put_content`], and waits
/// until it is on the disk. Only that last step waits: before it the file is unreadable for as long as `write` takes. A long
/// content is on its way to the disk while the rest is still made.
///
/// # Errors
/// Fails if the disk is full or faulty; then the file is left unfinished, and the journal has its content.
pub(crate) fn fill_content(
    storage: &dyn Storage,
    length: u64,
    write: impl FnOnce(&mut Take<'_>) -> io::Result<()>,
) -> io::Result<Content> {
    if length > storage.length()? {
        storage.reserve(length)?;
    }
    let mut hasher = crc32fast::Hasher::new();
    let mut written = 0;
    let mut first = None;
    thread::scope(|scope| {
        let mut sender = EarlySync::of(storage, scope);
        write(&mut |piece| {
            hasher.update(piece);
            let rest = match first {
                None => {
                    // An empty piece has no first byte to hold back.
                    let Some((begin, rest)) = piece.split_first() else { return Ok(()) };
                    first = Some(*begin);
                    storage.write_at(&[UNFINISHED], 0)?;
                    written = 1;
                    rest
                }
                Some(_) => piece,
            };
            storage.write_at(rest, written)?;
            written += rest.len() as u64;
            sender.written(written);
            Ok(())
        })?;
        // A shorter content must not be followed by the rest of the old one.
        storage.set_length(written)?;
        // The first byte comes last: from here on the content is valid.
        first.map_or(Ok(()), |first| storage.write_at(&[first], 0))
    })?;
    // Only now the content is guaranteed to survive a crash of the machine.
    storage.sync()?;
    Ok(Content { length: written, checksum: hasher.finalize() })
}

/// The first bytes of a file while its content is replaced. No JSON document begins like this.
const UNFINISHED: u8 = b'#';

/// Whether a content was being replaced when the process or the machine stopped. A machine may stop before the first part
/// of a new file has reached the disk, and leave zeros there.
pub(crate) fn is_unfinished(content: &[u8]) -> bool {
    matches!(content.first(), Some(&(UNFINISHED | 0)))
}

/// Starts syncing a file while it is written from its beginning to its end, on a thread of its own once there is much.
///
/// Only makes a later [`Storage::sync`] shorter. That call is the one that guarantees durability and reports failures.
pub(crate) struct EarlySync<'scope, 'env> {
    storage: &'env dyn Storage,
    scope: &'scope Scope<'scope, 'env>,
    /// The end of the bytes that were already sent to the disk.
    sent: u64,
    ranges: Option<Sender<Range<u64>>>,
}

/// The number of bytes that are sent at once.
const MUCH: u64 = 4 << 20;

impl<'scope, 'env> EarlySync<'scope, 'env> {
    pub fn of(storage: &'env dyn Storage, scope: &'scope Scope<'scope, 'env>) -> Self {
        Self { storage, scope, sent: 0, ranges: None }
    }

    /// Everything up to `length` has been written.
    pub fn written(&mut self, length: u64) {
        // Small amounts are not worth a thread; the final sync covers them.
        if length - self.sent < MUCH {
            return;
        }
        let (storage, scope) = (self.storage, self.scope);
        let ranges = self.ranges.get_or_insert_with(|| {
            let (ranges, written) = mpsc::channel::<Range<u64>>();
            let start = move || written.into_iter().for_each(|range| storage.start_sync(range));
            // Without a thread nothing is sent early.
            let _ = Builder::new().name("sync".to_owned()).spawn_scoped(scope, start);
            ranges
        });
        // Nobody receives it if the thread could not start; the final sync then does all the work.
        let _ = ranges.send(self.sent..length);
        self.sent = length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::faulty::Faulty;

    #[test]
    fn interrupted_write_leaves_the_old_the_new_or_an_invalid_content() {
        for (old, new) in
            [("{old content}", "{new}"), ("{old}", "{new content}"), ("", "{new}"), ("{same1}", "{same2}")]
        {
            for room in 0..=new.len() + 2 {
                let file = Faulty::with(old.as_bytes(), Some(room));
                let result = replace_content(&file, &[b"", &new.as_bytes()[..2], &new.as_bytes()[2..]]);
                let found = file.bytes();
                match result {
                    Ok(()) => assert_eq!(found, new.as_bytes()),
                    // Without any room not even the marker could be written.
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
    fn stopped_fill_leaves_the_old_content_or_an_unreadable_file() {
        let pieces: [&[u8]; 4] = [b"", b"{\"a\"", b":1", b"}"];
        for (old, room) in
            ["", "{}", "{a checkpoint}"].into_iter().flat_map(|old| (0..=10).map(move |room| (old, room)))
        {
            let file = Faulty::with(old.as_bytes(), Some(room));
            let filled = fill_content(&file, 7, |take| pieces.iter().try_for_each(|piece| take(piece)));
            match filled {
                // The first byte is written twice.
                Ok(content) => {
                    assert!(room >= 8, "{room}");
                    assert_eq!(content, Content::of(b"{\"a\":1}"));
                    assert_eq!(file.bytes(), b"{\"a\":1}");
                }
                Err(_) if room == 0 => assert_eq!(file.bytes(), old.as_bytes()),
                // An empty file would mean a state without objects.
                Err(_) => assert!(is_unfinished(&file.bytes()), "{old} {room}"),
            }
        }
    }

    #[test]
    fn fill_without_room_touches_nothing() {
        let file = Faulty::with(b"{old}", Some(3));
        file.0.lock().unwrap().reserves = true;
        let error = fill_content(&file, 20, |take| take(b"{a longer content..}")).unwrap_err();
        assert_eq!((error.kind(), file.bytes()), (io::ErrorKind::StorageFull, b"{old}".to_vec()));
    }

    #[test]
    fn a_regular_file_is_replaced() {
        let file = tempfile::tempfile().unwrap();
        for content in ["{\"long\":1}", "{}", "", "{\"longer\":12}"] {
            replace_content(&file, &[content.as_bytes()]).unwrap();
            assert_eq!(file.read_all().unwrap(), content.as_bytes());
        }
    }
}
