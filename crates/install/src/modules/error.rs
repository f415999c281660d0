//! Errors of fetching modules.

use groma_diagnostics::io_reason;

use crate::credentials::HelperError;
use crate::discovery::{DiscoveryError, ServiceError};
use crate::http::HttpError;

/// The error of fetching a module.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A file cannot be read or written.
    #[error("{what}: {}", io_reason(source))]
    File {
        /// The attempted operation.
        what: String,
        /// The error of the operating system.
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
    /// The token for the registry is not available.
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
