//! Protocol versions and size limits.

use std::fmt;

/// A major version of the plugin protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// Version 5, which has no nested attributes.
    V5,
    /// Version 6, which adds nested attributes and state stores.
    V6,
}

impl Protocol {
    /// Returns the version with this number, if this crate supports it.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            5 => Some(Self::V5),
            6 => Some(Self::V6),
            _ => None,
        }
    }

    /// Returns the number that the handshake uses.
    pub fn number(self) -> u32 {
        match self {
            Self::V5 => 5,
            Self::V6 => 6,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// The maximum size of a message in bytes. Schemas and states of large providers approach it.
pub const MESSAGE_LIMIT: usize = 256 << 20;

/// The HTTP/2 flow control window of a stream, in bytes. Large, since schema responses have many megabytes.
pub(crate) const STREAM_WINDOW: u32 = 8 << 20;
/// The HTTP/2 flow control window of a connection, in bytes.
pub(crate) const CONNECTION_WINDOW: u32 = 32 << 20;
