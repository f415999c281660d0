//! Errors of encryption, as users see them. No message ever contains a secret.

use std::fmt;

/// An error that prevents a file from being encrypted or decrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptionError {
    /// The line that users search for; OpenTofu's where it has one.
    pub summary: String,
    /// The cause, with the values involved, and the remedy.
    pub detail: String,
}

impl EncryptionError {
    pub(crate) fn new(summary: &str, detail: impl Into<String>) -> Self {
        Self { summary: summary.to_owned(), detail: detail.into() }
    }
}

/// The reason why a key provider or an external method fails.
///
/// Displayed as a clause without a final period, because it ends up inside the sentence of an [`EncryptionError`] or
/// of a diagnostic about the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// An argument of the key provider is missing, invalid, or conflicts with another one.
    Argument(String),
    /// No credentials are configured, or the configured ones cannot be used.
    Credentials(String),
    /// No response arrived: the URL is invalid, the connection failed or the deadline passed.
    Connection(String),
    /// The service answered with an error status.
    Rejected {
        /// The HTTP status code.
        status: u16,
        /// The error message of the service, shortened.
        message: Option<String>,
    },
    /// A service or a program answered something that its protocol does not allow.
    Response(String),
    /// An external program could not be run, failed or took too long.
    Program(String),
    /// The operating system or the cryptographic library failed.
    System(String),
    /// Another error, with the step that failed because of it.
    Context(String, Box<Self>),
}

impl KeyError {
    pub(crate) fn argument(problem: impl Into<String>) -> Self {
        Self::Argument(problem.into())
    }

    pub(crate) fn response(problem: impl Into<String>) -> Self {
        Self::Response(problem.into())
    }

    pub(crate) fn program(problem: impl Into<String>) -> Self {
        Self::Program(problem.into())
    }

    pub(crate) fn system(problem: impl Into<String>) -> Self {
        Self::System(problem.into())
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(problem)
            | Self::Credentials(problem)
            | Self::Connection(problem)
            | Self::Response(problem)
            | Self::Program(problem)
            | Self::System(problem) => f.write_str(problem),
            Self::Rejected { status, message: None } => write!(f, "the service answered with status {status}"),
            Self::Rejected { status, message: Some(message) } => {
                write!(f, "the service answered with status {status}: {message}")
            }
            Self::Context(step, cause) => write!(f, "{step}: {cause}"),
        }
    }
}

impl std::error::Error for KeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Context(_, cause) => Some(&**cause),
            _ => None,
        }
    }
}
