//! Frames: a header with a length and two checksums, and a payload, one frame after the other.
//!
//! A file may end in a torn frame, because the process or the machine stopped while it was written. A frame that was
//! complete once and has changed since is damaged. The header has its own checksum, so a damaged payload
//! does not hide the next frame, and a damaged length is not mistaken for a torn frame.

use std::ops::Range;

/// The length of the payload, the checksum of length and payload, and the checksum of these twelve bytes.
const HEADER: usize = 16;

/// The size of a disk block. A machine that stops leaves zeros in blocks that were not written.
const BLOCK: usize = 512;

/// Appends a frame around the payload that `write` makes.
pub(super) fn append(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    write(out);
    let header = header(&[&out[start + HEADER..]]);
    out[start..start + HEADER].copy_from_slice(&header);
}

/// Returns the header of a frame whose payload is these parts together.
pub(super) fn header(parts: &[&[u8]]) -> [u8; HEADER] {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = (length as u64).to_le_bytes();
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&length);
    header[8..12].copy_from_slice(&checksum(&length, parts).to_le_bytes());
    let own = crc32fast::hash(&header[..12]);
    header[12..].copy_from_slice(&own.to_le_bytes());
    header
}

fn checksum(length: &[u8], parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(length);
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// Returns the payload of the frame at the beginning of `rest`, whatever its checksums are, and moves on to the next one.
pub(super) fn leap<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let after = after.get(HEADER - 8..)?;
    let (payload, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    *rest = after;
    Some(payload)
}

/// A part of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    /// The payload of a frame.
    Whole(&'a [u8]),
    /// Bytes that held frames once, by their offsets in the file.
    Damaged(Range<u64>),
}

/// Reads the frames of a file.
pub(super) struct Frames<'a> {
    bytes: &'a [u8],
    position: usize,
    end: usize,
}

/// The reason why there is no frame at a position.
enum Defect {
    /// The header is not one.
    Header,
    /// The header is sound, and the file ends within the payload.
    Cut,
    /// The header is sound, and the payload is another one; the next frame begins at this position.
    Payload(usize),
}

impl<'a> Frames<'a> {
    /// The frames of a file from `start` on.
    pub fn new(bytes: &'a [u8], start: usize) -> Self {
        Self { bytes, position: start, end: start }
    }

    /// The end of the last whole frame that was read.
    pub fn end(&self) -> u64 {
        self.end as u64
    }

    fn at(&self, position: usize) -> Result<(&'a [u8], usize), Defect> {
        let length = sound_header(&self.bytes[position..]).ok_or(Defect::Header)?;
        let start = position + HEADER;
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        let Some((end, payload)) = end.and_then(|end| Some((end, self.bytes.get(start..end)?))) else {
            return Err(Defect::Cut);
        };
        let expected = &self.bytes[position + 8..position + 12];
        if checksum(&self.bytes[position..position + 8], &[payload]).to_le_bytes() != expected {
            return Err(Defect::Payload(end));
        }
        Ok((payload, end))
    }

    /// The first position in a range at which a sound header is.
    fn next_header(&self, mut range: Range<usize>) -> Option<usize> {
        range.find(|at| sound_header(&self.bytes[*at..]).is_some())
    }

    /// The bytes at the position, which are no frame, as damage; none if they are torn or were never written.
    fn damage(&self, defect: &Defect) -> Option<usize> {
        let is_cut = self.bytes.len() - self.position < HEADER;
        if is_cut || matches!(defect, Defect::Cut) {
            return None;
        }
        let written = self.bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if written <= self.position {
            return None;
        }
        let (next, suspect) = match defect {
            Defect::Cut => return None,
            Defect::Payload(end) => (self.next_header(*end..written), self.position..*end),
            Defect::Header => (self.next_header(self.position + 1..written), self.position..written),
        };
        if next.is_some() {
            // A payload that is damaged ends where its header says.
            return if let Defect::Payload(end) = defect { Some(*end) } else { next };
        }
        let header = self.bytes.get(self.position..self.position + HEADER);
        let is_unwritten = header.is_some_and(|header| header.iter().all(|byte| *byte == 0));
        (!is_unwritten && !self.has_unwritten_block(suspect.clone())).then_some(suspect.end)
    }

    /// Whether a part of a range is as a machine leaves it that stops before a block was written.
    fn has_unwritten_block(&self, range: Range<usize>) -> bool {
        let mut start = range.start;
        while start < range.end {
            let end = ((start / BLOCK + 1) * BLOCK).min(range.end);
            if end - start >= HEADER && self.bytes[start..end].iter().all(|byte| *byte == 0) {
                return true;
            }
            start = end;
        }
        false
    }
}

/// The length in a header, if its own checksum is right.
fn sound_header(bytes: &[u8]) -> Option<u64> {
    let header = bytes.first_chunk::<HEADER>()?;
    let length = u64::from_le_bytes(*header.first_chunk::<8>()?);
    // No frame is as long as 2^48 bytes. Most positions of a text are passed over by this alone.
    let is_sound = header[6..8] == [0, 0] && crc32fast::hash(&header[..12]).to_le_bytes() == header[12..];
    is_sound.then_some(length)
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        if self.position >= self.bytes.len() {
            return None;
        }
        match self.at(self.position) {
            Ok((payload, end)) => {
                (self.position, self.end) = (end, end);
                Some(Frame::Whole(payload))
            }
            Err(defect) => {
                let start = std::mem::replace(&mut self.position, self.bytes.len());
                let found = Self { position: start, ..*self }.damage(&defect);
                found.map(|end| {
                    self.position = end;
                    Frame::Damaged(start as u64..end as u64)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> (Vec<u8>, Vec<usize>) {
        let mut bytes = Vec::new();
        let mut ends = vec![0];
        for payload in [&b"one"[..], b"", b"three"] {
            append(&mut bytes, |out| out.extend_from_slice(payload));
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    #[test]
    fn torn_tail_hides_only_itself() {
        let (bytes, ends) = three();
        for cut in 0..=bytes.len() {
            // What was reserved for the next frames may follow.
            for reserved in [0, 1, 600] {
                let mut torn = bytes[..cut].to_vec();
                torn.resize(cut + if cut == bytes.len() { reserved } else { 0 }, 0);
                let mut frames = Frames::new(&torn, 0);
                let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
                let found: Vec<_> = frames.by_ref().collect();
                assert_eq!(found.len(), whole, "{cut} {found:?}");
                assert_eq!(frames.end(), ends[whole] as u64);
            }
        }
    }

    #[test]
    fn changed_byte_costs_one_frame_and_is_reported() {
        let (bytes, ends) = three();
        for at in 0..bytes.len() {
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= change;
                damaged.resize(bytes.len() + 40, 0);
                let found: Vec<_> = Frames::new(&damaged, 0).collect();
                let hit = ends.iter().filter(|end| **end <= at).count() - 1;
                let range = ends[hit] as u64..ends[hit + 1] as u64;
                let whole = found.iter().filter(|frame| matches!(frame, Frame::Whole(_))).count();
                assert_eq!(whole, 2, "byte {at}: {found:?}");
                assert_eq!(found[hit], Frame::Damaged(range), "byte {at}");
            }
        }
    }

    #[test]
    fn block_that_never_reached_the_disk_is_a_torn_tail_unless_frames_follow() {
        let mut bytes = Vec::new();
        append(&mut bytes, |out| out.extend_from_slice(b"first"));
        let first = bytes.len();
        append(&mut bytes, |out| out.extend_from_slice(&[b'x'; 3000]));
        let second = bytes.len();
        bytes[1024..1536].fill(0);
        let found: Vec<_> = Frames::new(&bytes, 0).collect();
        assert_eq!(found, [Frame::Whole(b"first")]);
        append(&mut bytes, |out| out.extend_from_slice(b"third"));
        let found: Vec<_> = Frames::new(&bytes, 0).collect();
        let damaged = Frame::Damaged(first as u64..second as u64);
        assert_eq!(found, [Frame::Whole(b"first"), damaged, Frame::Whole(b"third")]);
    }
}
