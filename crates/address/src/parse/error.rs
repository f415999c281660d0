//! That a text is no address.

use std::fmt;

/// The error of parsing an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The message, a whole sentence.
    pub message: String,
    /// The offset of the error in bytes.
    pub offset: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}
