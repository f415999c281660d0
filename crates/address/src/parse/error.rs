//! That a text is no address.

use std::fmt;

/// Why a text is not the address it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// A whole sentence.
    pub message: String,
    /// Where in the text, in bytes.
    pub offset: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}
