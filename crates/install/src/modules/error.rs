//! Why a module cannot be fetched.

use groma_diagnostics::io_reason;

use crate::credentials::HelperError;
use crate::discovery::{DiscoveryError, ServiceError};
use crate::http::HttpError;

/// Why a module cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A file cannot be read or written.
    #[error("{what}: {}", io_reason(source))]
    File {
        /// What was tried.
        what: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A server did not answer.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The registry's host cannot be asked what it offers.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// The registry's host offers no modules.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The token for the registry is not to be had.
    #[error(transparent)]
    Credentials(#[from] HelperError),
    /// Anything else; the text is a sentence without a dot.
    #[error("{0}")]
    Other(String),
}

impl FetchError {
    pub(super) fn file(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::File { what, source }
    }
}
