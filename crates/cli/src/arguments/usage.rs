//! Errors in the command line.

use std::fmt::{self, Display, Formatter};

use groma_diagnostics::Diagnostic;

/// A mistake on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageError {
    /// A sentence that stands alone.
    Bare(String),
    /// A command group without a subcommand.
    NoCommand(String),
    /// A problem with the arguments of a command, shown as a diagnostic.
    Diagnostic(Box<Diagnostic>),
}

impl UsageError {
    /// A sentence that stands alone.
    pub fn bare(text: impl Into<String>) -> Self {
        Self::Bare(text.into())
    }
}

impl Display for UsageError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bare(text) | Self::NoCommand(text) => f.write_str(text),
            Self::Diagnostic(diagnostic) => write!(f, "{}: {}", diagnostic.summary, diagnostic.detail),
        }
    }
}
