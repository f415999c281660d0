//! Errors of credentials and requests to clouds other than AWS. No message ever contains a secret.

use std::fmt;

use crate::background::BackgroundError;
use crate::http::HttpError;

/// The reason why there is no access token, or no usable answer of an API.
///
/// Displayed as a clause without a final period, because it ends up inside the sentence of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenError {
    /// A setting is missing, invalid, or conflicts with another one.
    Setting(String),
    /// No source has credentials.
    Missing(String),
    /// The configured credentials cannot be used.
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

impl TokenError {
    /// Longer error messages of a service are cut, because some return whole HTML pages.
    const MAXIMUM_MESSAGE: usize = 500;

    pub(crate) fn setting(problem: impl Into<String>) -> Self {
        Self::Setting(problem.into())
    }

    pub(crate) fn credentials(problem: impl Into<String>) -> Self {
        Self::Credentials(problem.into())
    }

    pub(crate) fn response(problem: impl Into<String>) -> Self {
        Self::Response(problem.into())
    }

    pub(crate) fn program(problem: impl Into<String>) -> Self {
        Self::Program(problem.into())
    }

    /// A request that the service answered with an error status.
    pub(crate) fn rejected(status: u16, message: Option<&str>) -> Self {
        let shortened = |message: &str| {
            let line = message.split_whitespace().collect::<Vec<&str>>().join(" ");
            // No final period, because the sentence continues after the message.
            line.chars().take(Self::MAXIMUM_MESSAGE).collect::<String>().trim_end_matches('.').to_owned()
        };
        Self::Rejected { status, message: message.map(shortened) }
    }

    /// Adds the step that failed because of this error.
    pub(crate) fn context(self, step: impl Into<String>) -> Self {
        Self::Context(step.into(), Box::new(self))
    }
}

impl From<HttpError> for TokenError {
    fn from(error: HttpError) -> Self {
        Self::Connection(error.to_string())
    }
}

impl From<BackgroundError> for TokenError {
    fn from(error: BackgroundError) -> Self {
        Self::System(error.to_string())
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(problem)
            | Self::Missing(problem)
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

impl std::error::Error for TokenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Context(_, cause) => Some(&**cause),
            _ => None,
        }
    }
}
