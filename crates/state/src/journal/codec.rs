//! The binary form of what records hold: numbers in seven-bit groups, texts and bytes with their length before them.

/// Writes into a buffer.
pub(super) struct Encoder<'a>(pub &'a mut Vec<u8>);

impl Encoder<'_> {
    pub fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.byte(value.is_some().into());
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// Reads from bytes that may be damaged: every method gives nothing instead of reading past the end.
pub(super) struct Decoder<'a>(pub &'a [u8]);

impl<'a> Decoder<'a> {
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            _ => read(self).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(number in any::<u64>(), text in any::<String>(), option in any::<Option<u64>>()) {
            let mut buffer = Vec::new();
            let mut encoder = Encoder(&mut buffer);
            encoder.number(number);
            encoder.text(&text);
            encoder.option(option, Encoder::number);
            let mut decoder = Decoder(&buffer);
            prop_assert_eq!(decoder.number(), Some(number));
            prop_assert_eq!(decoder.text(), Some(&*text));
            prop_assert_eq!(decoder.option(Decoder::number), Some(option));
            prop_assert_eq!(decoder.byte(), None);
            for cut in 0..buffer.len() {
                let mut decoder = Decoder(&buffer[..cut]);
                let read = (|| Some((decoder.number()?, decoder.text()?, decoder.option(Decoder::number)?)))();
                prop_assert_eq!(read, None);
            }
        }
    }
}
