//! The end record of a zip file, which holds the number of entries.

use std::io::{self, Read, Seek, SeekFrom};

use super::limits::{Limits, too_many};

/// The end record without its comment, and the longest comment.
const END: usize = 22;
const LONGEST_COMMENT: u64 = 0xffff;

/// Refuses a zip file that says it has more entries than it may have. A reader keeps all entries in memory, so it must not begin.
///
/// A file without an end record passes: reading it reports that it is not a zip file.
///
/// # Errors
/// The file cannot be read, or has too many entries.
pub(crate) fn check_entries(file: &mut (impl Read + Seek), limits: Limits) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    let start = length.saturating_sub(END as u64 + LONGEST_COMMENT);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(END as u64 + LONGEST_COMMENT).read_to_end(&mut tail)?;
    let at = tail.windows(4).rposition(|bytes| bytes == b"PK\x05\x06");
    let entries = match at.and_then(|at| tail.get(at..)?.get(10..12)?.try_into().ok()).map(u16::from_le_bytes) {
        Some(u16::MAX) => large_count(file, start + at.unwrap_or_default() as u64)?,
        count => count.map(u64::from),
    };
    file.rewind()?;
    if entries.is_some_and(|entries| entries > limits.entries) { Err(too_many(limits)) } else { Ok(()) }
}

/// The number of entries of a file in the Zip64 format, whose end record is at `end`.
fn large_count(file: &mut (impl Read + Seek), end: u64) -> io::Result<Option<u64>> {
    // In front of the end record is a locator of 20 bytes, which has the offset of the real one.
    let Some(at) = end.checked_sub(20) else { return Ok(None) };
    let Some(locator) = record::<16>(file, at, b"PK\x06\x07")? else { return Ok(None) };
    let Some(offset) = locator.last_chunk().map(|bytes| u64::from_le_bytes(*bytes)) else { return Ok(None) };
    let record = record::<40>(file, offset, b"PK\x06\x06")?;
    Ok(record.and_then(|record| record.last_chunk().map(|bytes| u64::from_le_bytes(*bytes))))
}

/// The first `N` bytes of the record at `at`, if it begins with `signature`.
fn record<const N: usize>(file: &mut (impl Read + Seek), at: u64, signature: &[u8; 4]) -> io::Result<Option<[u8; N]>> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(at))?;
    match file.read_exact(&mut bytes) {
        Ok(()) if bytes.starts_with(signature) => Ok(Some(bytes)),
        Ok(()) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
