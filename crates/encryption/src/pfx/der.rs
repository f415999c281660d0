//! The few forms of ASN.1 that files with keys are made of, in DER.

/// What is left to read.
#[derive(Clone, Copy)]
pub(super) struct Der<'a>(&'a [u8]);

/// The kinds of what stands in DER.
pub(super) const INTEGER: u8 = 0x02;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const OBJECT: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;
/// What is marked by its place, in full and in short.
pub(super) const FIRST: u8 = 0xA0;
pub(super) const FIRST_PLAIN: u8 = 0x80;

impl<'a> Der<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The kind of what stands next.
    pub(super) fn next_kind(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// What stands next, if it is of this kind.
    pub(super) fn take(&mut self, kind: u8) -> Option<&'a [u8]> {
        let (found, rest) = self.0.split_first()?;
        let (first, mut rest) = rest.split_first()?;
        let mut length = usize::from(*first);
        if length >= 0x80 {
            let (digits, after) = rest.split_at_checked(length & 0x7F)?;
            if digits.is_empty() || digits.len() > 4 {
                return None;
            }
            length = digits.iter().fold(0, |length, digit| (length << 8) | usize::from(*digit));
            rest = after;
        }
        let (content, rest) = rest.split_at_checked(length)?;
        if *found != kind {
            return None;
        }
        self.0 = rest;
        Some(content)
    }

    /// What stands next, whatever it is.
    pub(super) fn skip(&mut self) -> Option<&'a [u8]> {
        self.take(self.next_kind()?)
    }

    /// The content of what stands next, if it is of this kind and has something in it to read.
    pub(super) fn inside(&mut self, kind: u8) -> Option<Self> {
        self.take(kind).map(Self)
    }

    /// A whole number that is not negative.
    pub(super) fn number(&mut self) -> Option<u32> {
        let digits = self.take(INTEGER)?;
        let is_small = !digits.is_empty() && digits.len() <= 5 && digits[0] < 0x80;
        let number = digits.iter().fold(0_u64, |number, digit| (number << 8) | u64::from(*digit));
        u32::try_from(number).ok().filter(|_| is_small)
    }
}
