//! A pull scanner for msgpack.

use crate::codec::{Failure, Outcome};
use crate::number::Number;

/// A cursor over msgpack bytes.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A msgpack item; for an array or map only its length, as the elements follow.
#[derive(Debug, PartialEq)]
pub(super) enum Item<'a> {
    Nil,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// A `str` or `bin` item: encoders use them interchangeably.
    Bytes(&'a [u8]),
    Array(usize),
    Map(usize),
    Extension {
        kind: u8,
        body: &'a [u8],
    },
}

impl Item<'_> {
    /// Converts any numeric form to a number; numbers that no machine type can hold are sent as decimal strings.
    pub fn number(&self) -> Option<Number> {
        match self {
            Item::Signed(value) => Some(Number::from(*value)),
            Item::Unsigned(value) => Some(Number::from(*value)),
            Item::Float(value) => Number::from_f64(*value),
            Item::Bytes(digits) => Number::parse(std::str::from_utf8(digits).ok()?).ok(),
            _ => None,
        }
    }
}

impl<'a> Scanner<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Scanner { bytes, at: 0 }
    }

    pub fn fail<T>(&self, message: impl Into<String>) -> Outcome<T> {
        Err(Failure::at(self.at, message))
    }

    /// The number of unread bytes, an upper bound for the element count of any aggregate.
    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    fn take(&mut self, count: usize) -> Outcome<&'a [u8]> {
        // The length comes from the input, so the sum may overflow and the bytes may be missing.
        match self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end)) {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => self.fail("unexpected end of msgpack data"),
        }
    }

    /// Reads a big-endian integer of `width` bytes, at most 8.
    fn unsigned(&mut self, width: usize) -> Outcome<u64> {
        Ok(self.take(width)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn length(&mut self, width: usize) -> Outcome<usize> {
        let length = self.unsigned(width)?;
        match usize::try_from(length) {
            Ok(length) => Ok(length),
            Err(_) => self.fail("unexpected end of msgpack data"),
        }
    }

    fn bytes_item(&mut self, width: usize) -> Outcome<Item<'a>> {
        let length = self.length(width)?;
        self.take(length).map(Item::Bytes)
    }

    fn extension(&mut self, length: usize) -> Outcome<Item<'a>> {
        let kind = self.unsigned(1)? as u8;
        Ok(Item::Extension { kind, body: self.take(length)? })
    }

    /// Reads the next item.
    pub fn item(&mut self) -> Outcome<Item<'a>> {
        let code = self.unsigned(1)? as u8;
        Ok(match code {
            0x00..=0x7f => Item::Unsigned(u64::from(code)),
            0x80..=0x8f => Item::Map(usize::from(code & 0x0f)),
            0x90..=0x9f => Item::Array(usize::from(code & 0x0f)),
            0xa0..=0xbf => Item::Bytes(self.take(usize::from(code & 0x1f))?),
            0xc0 => Item::Nil,
            0xc1 => return self.fail("invalid msgpack format code 0xc1"),
            0xc2 => Item::Bool(false),
            0xc3 => Item::Bool(true),
            0xc4 | 0xd9 => self.bytes_item(1)?,
            0xc5 | 0xda => self.bytes_item(2)?,
            0xc6 | 0xdb => self.bytes_item(4)?,
            // The three codes differ in the width of the length: 1, 2 and 4 bytes.
            0xc7..=0xc9 => {
                let length = self.length(1 << (code - 0xc7))?;
                self.extension(length)?
            }
            0xca => Item::Float(f64::from(f32::from_bits(self.unsigned(4)? as u32))),
            0xcb => Item::Float(f64::from_bits(self.unsigned(8)?)),
            0xcc..=0xcf => Item::Unsigned(self.unsigned(1 << (code - 0xcc))?),
            0xd0 => Item::Signed(i64::from(self.unsigned(1)? as i8)),
            0xd1 => Item::Signed(i64::from(self.unsigned(2)? as i16)),
            0xd2 => Item::Signed(i64::from(self.unsigned(4)? as i32)),
            0xd3 => Item::Signed(self.unsigned(8)? as i64),
            0xd4..=0xd8 => self.extension(1 << (code - 0xd4))?,
            0xdc => Item::Array(self.length(2)?),
            0xdd => Item::Array(self.length(4)?),
            0xde => Item::Map(self.length(2)?),
            0xdf => Item::Map(self.length(4)?),
            0xe0..=0xff => Item::Signed(i64::from(code as i8)),
        })
    }

    /// Reads a string item; `message` is the error for other items.
    pub fn text(&mut self, message: &str) -> Outcome<&'a str> {
        match self.item()? {
            Item::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text),
                Err(_) => self.fail("string is not valid UTF-8"),
            },
            _ => self.fail(message),
        }
    }
}
