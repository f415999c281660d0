//! Decoding of files that are not entirely UTF-8.

/// A byte that is not part of any UTF-8 character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidByte {
    /// Offset of the byte's replacement character in the decoded text.
    pub at: u32,
    /// The byte that is not valid UTF-8.
    pub byte: u8,
}

impl InvalidByte {
    /// The length in bytes of the replacement character in the decoded text.
    pub const WIDTH: usize = char::REPLACEMENT_CHARACTER.len_utf8();
}

/// The text of a file, with one replacement character (U+FFFD) for each byte that is not UTF-8.
///
/// Comments may contain such bytes, for example in files that were saved in Latin-1. The parser decides whether a byte
/// stands where it does no harm.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The text after decoding.
    pub text: String,
    /// The bytes that are not UTF-8, in order.
    pub invalid: Vec<InvalidByte>,
}

impl Decoded {
    /// Decodes `bytes`. Text that is UTF-8 is not copied.
    pub fn new(bytes: Vec<u8>) -> Self {
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => return Self { text, invalid: Vec::new() },
            Err(error) => error.into_bytes(),
        };
        let mut decoded = Self::default();
        for chunk in bytes.utf8_chunks() {
            decoded.text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                // More than 4 GiB are refused where the text is registered.
                let at = u32::try_from(decoded.text.len()).unwrap_or(u32::MAX);
                decoded.invalid.push(InvalidByte { at, byte: *byte });
                decoded.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        decoded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_invalid_byte_becomes_one_replacement_character() {
        let decoded = Decoded::new(b"a\xe9b\xe2\x82c".to_vec());
        assert_eq!(decoded.text, "a\u{fffd}b\u{fffd}\u{fffd}c");
        let invalid = [(1, 0xe9), (5, 0xe2), (8, 0x82)].map(|(at, byte)| InvalidByte { at, byte });
        assert_eq!(decoded.invalid, invalid);
        assert_eq!(Decoded::new("é\u{fffd}".into()).invalid, []);
    }
}
