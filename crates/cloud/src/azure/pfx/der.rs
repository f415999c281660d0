//! A reader for the subset of ASN.1 DER that PKCS #12 files use.

/// The remaining bytes of a DER encoding.
#[derive(Clone, Copy)]
pub(super) struct Der<'a>(&'a [u8]);

/// Tags of elements.
pub(super) const INTEGER: u8 = 0x02;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const OBJECT: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;
/// The context-specific tag 0, constructed and primitive.
pub(super) const CONTEXT_0: u8 = 0xA0;
pub(super) const CONTEXT_0_PRIMITIVE: u8 = 0x80;

impl<'a> Der<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the tag of the next element.
    pub(super) fn next_tag(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// Reads the content of the next element, if it has this tag.
    pub(super) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (found, rest) = self.0.split_first()?;
        let (first, mut rest) = rest.split_first()?;
        // Long form: the low bits count the bytes of the length. Files over 4 GiB do not occur.
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
        if *found != tag {
            return None;
        }
        self.0 = rest;
        Some(content)
    }

    /// Reads the content of the next element, whatever its tag.
    pub(super) fn skip(&mut self) -> Option<&'a [u8]> {
        self.take(self.next_tag()?)
    }

    /// Reads the next element, if it has this tag, and returns a reader of its content.
    pub(super) fn inside(&mut self, tag: u8) -> Option<Self> {
        self.take(tag).map(Self)
    }

    /// Reads a non-negative integer.
    pub(super) fn number(&mut self) -> Option<u32> {
        let digits = self.take(INTEGER)?;
        let is_small = !digits.is_empty() && digits.len() <= 5 && digits[0] < 0x80;
        let number = digits.iter().fold(0_u64, |number, digit| (number << 8) | u64::from(*digit));
        u32::try_from(number).ok().filter(|_| is_small)
    }
}
