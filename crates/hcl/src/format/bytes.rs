//! Formatting of files with non-UTF-8 bytes in comments. The bytes are preserved.

use groma_diagnostics::{Decoded, InvalidByte};

use super::try_format;
use crate::encoding::outside_comments;
use crate::scanner::tokenize;

/// Formats the content of a file. Returns `None` if it has syntax errors.
pub fn try_format_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return try_format(text).map(String::into_bytes);
    }
    let Decoded { text, invalid } = Decoded::new(bytes.to_vec());
    // Outside of comments, an invalid byte is a syntax error.
    if !outside_comments(&tokenize(&text), &invalid).is_empty() {
        return None;
    }
    let stand_ins = StandIns::unused_in(&text)?;
    let laid_out = try_format(&stand_ins.put_into(&text, &invalid))?;
    Some(stand_ins.replaced_in(&laid_out))
}

/// Private-use characters that represent invalid bytes during formatting. Formatting may drop a comment, so counting
/// U+FFFD characters would not tell which bytes remain.
struct StandIns {
    /// The character for byte zero; the characters for other bytes follow it.
    first: u32,
}

impl StandIns {
    /// The supplementary private-use planes of Unicode.
    const PRIVATE: std::ops::Range<u32> = 0xf_0000..0x10_ff00;

    /// Chooses 256 consecutive characters that do not occur in `text`.
    fn unused_in(text: &str) -> Option<Self> {
        // The higher bits are the same for each aligned group of 256 characters.
        let used: std::collections::HashSet<u32> = text.chars().map(|c| u32::from(c) >> 8).collect();
        let first = Self::PRIVATE.step_by(256).find(|first| !used.contains(&(first >> 8)))?;
        Some(Self { first })
    }

    fn put_into(&self, text: &str, invalid: &[InvalidByte]) -> String {
        let mut result = String::with_capacity(text.len() + invalid.len());
        let mut at = 0;
        for byte in invalid {
            let start = byte.at as usize;
            result.push_str(text.get(at..start).unwrap_or_default());
            result.extend(char::from_u32(self.first + u32::from(byte.byte)));
            at = start + InvalidByte::WIDTH;
        }
        result.push_str(text.get(at..).unwrap_or_default());
        result
    }

    fn replaced_in(&self, text: &str) -> Vec<u8> {
        let mut result = Vec::with_capacity(text.len());
        for character in text.chars() {
            match u32::from(character).checked_sub(self.first).map(u8::try_from) {
                Some(Ok(byte)) => result.push(byte),
                _ => result.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        result
    }
}
