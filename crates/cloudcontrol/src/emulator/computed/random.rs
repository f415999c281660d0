//! Values that look random and are the same each time: drawn from a seed, a counter and the name of the property.

use sha2::{Digest, Sha256};
use time::UtcDateTime;

/// A source of drawn values for one object.
#[derive(Debug, Clone)]
pub struct Source {
    seed: u64,
    counter: u64,
}

impl Source {
    /// The source of the object that the record number `counter` makes.
    pub fn new(seed: u64, counter: u64) -> Self {
        Self { seed, counter }
    }

    /// Seconds since the emulator's beginning of time.
    pub fn seconds(&self) -> u64 {
        self.counter
    }

    fn bytes(&self, label: &str, block: u8) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_le_bytes());
        hash.update(self.counter.to_le_bytes());
        hash.update([block]);
        hash.update(label.as_bytes());
        hash.finalize().into()
    }

    /// A text of characters of an alphabet.
    pub fn text(&self, label: &str, alphabet: &[u8], length: usize) -> String {
        let mut text = String::with_capacity(length);
        for block in 0..=u8::MAX {
            for byte in self.bytes(label, block) {
                if text.len() >= length {
                    return text;
                }
                text.push(char::from(alphabet[usize::from(byte) % alphabet.len()]));
            }
        }
        text
    }

    /// Returns random hexadecimal digits.
    pub fn hex(&self, label: &str, length: usize) -> String {
        self.text(label, b"0123456789abcdef", length)
    }

    /// A number between two bounds, both included.
    pub fn number(&self, label: &str, least: u64, most: u64) -> u64 {
        let bytes = self.bytes(label, 0);
        let drawn =
            u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]);
        least + drawn % (most.saturating_sub(least) + 1)
    }

    /// A version 4 UUID.
    pub fn uuid(&self, label: &str) -> String {
        let mut bytes = self.bytes(label, 0);
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let hex: String = bytes[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

/// RFC 3339 text of a number of seconds since 1970; what no calendar has is the last moment that it has.
pub fn timestamp(seconds: u64) -> String {
    let moment = i64::try_from(seconds).ok().and_then(|seconds| UtcDateTime::from_unix_timestamp(seconds).ok());
    let moment = moment.unwrap_or(UtcDateTime::MAX);
    let (year, month, day) = moment.to_calendar_date();
    let (hour, minute, second) = moment.as_hms();
    format!("{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z", u8::from(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_path_draws_the_same_value() {
        let source = Source::new(1, 2);
        assert_eq!(source.hex("a", 17), Source::new(1, 2).hex("a", 17));
        assert_ne!(source.hex("a", 17), source.hex("b", 17));
        assert_ne!(source.hex("a", 17), Source::new(1, 3).hex("a", 17));
        assert_eq!(source.text("a", b"xy", 100).len(), 100);
        assert_eq!(source.uuid("a").len(), 36);
        assert!((3..=9).contains(&source.number("n", 3, 9)));
    }

    #[test]
    fn timestamps() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(timestamp(1_767_225_600), "2026-01-01T00:00:00Z");
    }
}
