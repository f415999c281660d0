//! The error type of address parsing.

use std::fmt;

/// Reason why a string is not the expected address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// A complete sentence for the user.
    pub message: String,
    /// Byte offset of the problem in the parsed string.
    pub offset: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}
