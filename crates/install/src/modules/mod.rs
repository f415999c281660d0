//! Installation of modules from registries, repositories, archives and directories.
//!
//! The configuration loader calls [`ModuleInstaller`] for each module call. It fetches missing packages, and writes
//! the manifest of installed modules at the end.

mod address;
mod checksum;
mod copy;
mod fetch;
mod git;
mod installer;
mod objects;
mod registry;
mod web;

pub use address::shown;
pub use copy::copy_module;
pub use fetch::Fetcher;
pub use installer::{Freshness, ModuleInstaller, ModulePaths, ModuleProgress};
pub(crate) use registry::{in_document, listed};
pub(crate) use web::{in_page, relative_to};

use groma_diagnostics::io_reason;

use crate::credentials::HelperError;
use crate::discovery::{DiscoveryError, ServiceError};
use crate::http::HttpError;

/// The reason why a module cannot be installed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A file system operation failed.
    #[error("{what}: {}", io_reason(source))]
    File {
        /// The operation, as a clause for the message.
        what: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A request for the package or to a registry failed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// Service discovery on the registry's host failed.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// The host offers no module registry.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The credentials helper failed to provide the token for the registry.
    #[error(transparent)]
    Credentials(#[from] HelperError),
    /// Any other problem: a sentence without the final period.
    #[error("{0}")]
    Other(String),
}

impl FetchError {
    pub(super) fn file(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::File { what, source }
    }
}
