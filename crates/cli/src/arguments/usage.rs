//! Errors in the command line itself.

use std::fmt::{self, Display, Formatter};

use groma_diagnostics::Diagnostic;

/// A mistake on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageError {
    /// A message printed without the frame of a diagnostic, as Terraform prints problems that precede any command.
    Bare(String),
    /// A bare message for a command line without a command, which exits with 127 as Terraform does.
    NoCommand(String),
    /// A problem with the arguments of a command, shown as a diagnostic.
    Diagnostic(Box<Diagnostic>),
}

impl UsageError {
    /// Creates a [`UsageError::Bare`].
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
