//! Which version of the protocol two sides speak.

use std::fmt;

/// A major version of the plugin protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// Version 5: without attributes of nested types.
    V5,
    /// Version 6.
    V6,
}

impl Protocol {
    /// The version with this number; `None` when it is none that this crate speaks.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            5 => Some(Self::V5),
            6 => Some(Self::V6),
            _ => None,
        }
    }

    /// Its number.
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

/// The largest message that either side accepts, in bytes: schemas and states of large providers are that big.
pub const MESSAGE_LIMIT: usize = 256 << 20;

/// How much of one message may be under way before its reader has taken it: schemas have many megabytes.
pub(crate) const STREAM_WINDOW: u32 = 8 << 20;
/// The same for all messages of a connection together.
pub(crate) const CONNECTION_WINDOW: u32 = 32 << 20;
