//! Frames: a length, a checksum and a payload, one after the other.
//!
//! The last frame of a file may be torn, because the process or the machine stopped while it was written. Whatever
//! follows the last whole frame counts as not written.

const HEADER: usize = 12;

/// Appends a frame around the payload that `write` makes.
pub(super) fn append(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    write(out);
    let header = header(&[&out[start + HEADER..]]);
    out[start..start + HEADER].copy_from_slice(&header);
}

/// The header of a frame whose payload is these parts together.
pub(super) fn header(parts: &[&[u8]]) -> [u8; HEADER] {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = (length as u64).to_le_bytes();
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&length);
    header[8..].copy_from_slice(&checksum(&length, parts).to_le_bytes());
    header
}

fn checksum(length: &[u8], parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(length);
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// The payload of the frame at the beginning of `rest`, whatever its checksum says, and on to the next.
pub(super) fn leap<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let after = after.get(HEADER - 8..)?;
    let (payload, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    *rest = after;
    Some(payload)
}

/// The payloads of the whole frames at the beginning of `bytes`.
pub(super) struct Frames<'a> {
    rest: &'a [u8],
}

impl<'a> Frames<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes at the end belong to no whole frame, once all frames have been taken.
    pub fn torn(&self) -> usize {
        self.rest.len()
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.rest.split_first_chunk::<8>()?;
        let (expected, rest) = rest.split_first_chunk::<4>()?;
        let (payload, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        if checksum(length, &[payload]) != u32::from_le_bytes(*expected) {
            return None;
        }
        self.rest = rest;
        Some(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_tail_hides_only_itself() {
        let mut bytes = Vec::new();
        let mut ends = vec![0];
        for payload in [&b"one"[..], b"", b"three"] {
            append(&mut bytes, |out| out.extend_from_slice(payload));
            ends.push(bytes.len());
        }
        for cut in 0..=bytes.len() {
            let mut frames = Frames::new(&bytes[..cut]);
            let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
            assert_eq!(frames.by_ref().count(), whole);
            assert_eq!(frames.torn(), cut - ends[whole]);
        }
    }

    #[test]
    fn a_changed_byte_ends_the_reading_there() {
        let mut bytes = Vec::new();
        append(&mut bytes, |out| out.extend_from_slice(b"one"));
        let end = bytes.len();
        append(&mut bytes, |out| out.extend_from_slice(b"two"));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert_eq!(Frames::new(&damaged).count(), usize::from(at >= end));
        }
    }
}
