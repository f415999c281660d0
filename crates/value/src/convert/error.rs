//! Errors of conversions.

use crate::path::Path;
use std::fmt;

/// The error of a conversion, with the path of the part that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionError {
    /// The part that cannot be converted.
    pub path: Path,
    /// The description of the error, such as "a number is required".
    pub message: String,
}

impl ConversionError {
    pub(super) fn new(path: Path, message: impl Into<String>) -> Self {
        ConversionError { path, message: message.into() }
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConversionError {}
