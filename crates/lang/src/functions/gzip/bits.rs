//! A sequence of bits, kept in bytes from the lowest bit on.

/// Bytes, and the bits that do not fill one yet.
pub(super) struct Bits {
    bytes: Vec<u8>,
    pending: u64,
    count: u32,
}

impl Bits {
    /// Continues after whole bytes.
    pub(super) fn after(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), pending: 0, count: 0 }
    }

    /// Appends the lowest `width` bits of `value`, which has no others. At most 32.
    pub(super) fn push(&mut self, value: u32, width: u8) {
        self.pending |= u64::from(value) << self.count;
        self.count += u32::from(width);
        while self.count >= 8 {
            self.take_byte();
            self.count -= 8;
        }
    }

    /// Fills the byte that has begun with zeros.
    pub(super) fn align(&mut self) {
        if self.count > 0 {
            self.take_byte();
            self.count = 0;
        }
    }

    /// Appends whole bytes at the border of a byte.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.align();
        self.bytes.extend_from_slice(bytes);
    }

    /// Everything, the last byte filled with zeros.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.align();
        self.bytes
    }

    fn take_byte(&mut self) {
        self.bytes.push((self.pending & 0xff) as u8);
        self.pending >>= 8;
    }
}
