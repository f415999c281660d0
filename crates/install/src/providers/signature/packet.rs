//! Packets: the framing of keys and signatures, and what is in a signature.

use super::error::SignatureError;

/// A packet's kind and its content.
pub(super) struct Packet<'a> {
    pub tag: u8,
    pub body: &'a [u8],
}

/// Takes bytes from the front; none when there are too few.
pub(super) fn take<'a>(from: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (front, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(front)
}

/// Takes a number of `length` bytes, the most significant first.
pub(super) fn number(from: &mut &[u8], length: usize) -> Option<usize> {
    take(from, length).map(|bytes| bytes.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)))
}

/// Takes a multi-precision integer.
pub(super) fn integer<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let bits = number(from, 2)?;
    take(from, bits.div_ceil(8))
}

/// All packets, in order.
pub(super) fn packets(mut from: &[u8]) -> Result<Vec<Packet<'_>>, SignatureError> {
    let mut found = Vec::new();
    while !from.is_empty() {
        found.push(packet(&mut from).ok_or(SignatureError::Malformed)?);
    }
    Ok(found)
}

fn packet<'a>(from: &mut &'a [u8]) -> Option<Packet<'a>> {
    let header = number(from, 1)?;
    if header & 0x80 == 0 {
        return None;
    }
    let (tag, length) = if header & 0x40 != 0 {
        (header & 0x3f, length(from)?)
    } else {
        let size = match header & 3 {
            0 => 1,
            1 => 2,
            2 => 4,
            _ => return take(from, from.len()).map(|body| Packet { tag: (header >> 2 & 0xf) as u8, body }),
        };
        (header >> 2 & 0xf, number(from, size)?)
    };
    Some(Packet { tag: u8::try_from(tag).ok()?, body: take(from, length)? })
}

/// A length in the new form; one in parts has no place in keys and signatures.
fn length(from: &mut &[u8]) -> Option<usize> {
    match number(from, 1)? {
        short @ 0..192 => Some(short),
        long @ 192..224 => Some(((long - 192) << 8) + number(from, 1)? + 192),
        255 => number(from, 4),
        _ => None,
    }
}

/// A signature of version 4.
pub(super) struct Signature<'a> {
    pub kind: u8,
    pub algorithm: u8,
    pub hash: u8,
    /// What of the packet is signed too.
    pub hashed: &'a [u8],
    /// The last eight bytes of the fingerprint of its key, where it says so.
    pub issuer: Option<[u8; 8]>,
    /// A signature within the signature: of a subkey over its primary key.
    pub embedded: Option<&'a [u8]>,
    pub value: &'a [u8],
}

impl<'a> Signature<'a> {
    pub fn parse(body: &'a [u8]) -> Result<Self, SignatureError> {
        if body.first() != Some(&4) {
            return Err(SignatureError::Unsupported("its version is not 4".to_owned()));
        }
        Self::version_4(body).ok_or(SignatureError::Malformed)
    }

    fn version_4(body: &'a [u8]) -> Option<Self> {
        let mut rest = body.get(1..)?;
        let (kind, algorithm, hash) = (number(&mut rest, 1)?, number(&mut rest, 1)?, number(&mut rest, 1)?);
        let hashed_length = number(&mut rest, 2)?;
        let hashed_area = take(&mut rest, hashed_length)?;
        let hashed = body.get(..6 + hashed_length)?;
        let unhashed_length = number(&mut rest, 2)?;
        let unhashed_area = take(&mut rest, unhashed_length)?;
        take(&mut rest, 2)?;
        let mut signature = Self {
            kind: kind as u8,
            algorithm: algorithm as u8,
            hash: hash as u8,
            hashed,
            issuer: None,
            embedded: None,
            value: rest,
        };
        signature.read_area(hashed_area)?;
        signature.read_area(unhashed_area)?;
        Some(signature)
    }

    fn read_area(&mut self, mut area: &'a [u8]) -> Option<()> {
        while !area.is_empty() {
            let length = length(&mut area)?;
            let (kind, content) = take(&mut area, length)?.split_first()?;
            match kind & 0x7f {
                16 => self.issuer = content.try_into().ok(),
                33 if self.issuer.is_none() => {
                    self.issuer = content.len().checked_sub(8).and_then(|at| content.get(at..)?.try_into().ok());
                }
                32 => self.embedded = Some(content),
                _ => {}
            }
        }
        Some(())
    }
}
