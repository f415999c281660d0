//! Packages that sources offer, their locations, and the trust in them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use groma_config::version::Version;

use super::package_error::{PackageError, VersionError};
use crate::http::{Url, without_secrets};
use crate::oci::{Descriptor, Repository};

/// The location of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// An unpacked package in a directory.
    Folder(PathBuf),
    /// An archive in the local file system.
    Archive(PathBuf),
    /// An archive to download.
    Download {
        /// The URL of the archive.
        url: Url,
        /// The file name of the archive.
        filename: String,
    },
    /// An archive in an OCI registry: its repository and descriptor.
    Blob(Box<(Repository, Descriptor)>),
}

/// Shows the path or the URL without credentials.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) | Self::Archive(path) => path.display().fmt(f),
            Self::Download { url, .. } => f.write_str(&without_secrets(url)),
            Self::Blob(blob) => write!(f, "{}", blob.0),
        }
    }
}

/// The description of a package by its source.
#[derive(Clone, Debug)]
pub struct PackageMeta {
    /// The version of the provider.
    pub version: Version,
    /// The location of the package.
    pub location: Location,
    /// Hashes of which the package must have one; empty if the source knows none.
    pub required: Vec<Arc<str>>,
    /// Further hashes of this version that the source guarantees, for the lock file.
    pub vouched: Vec<Arc<str>>,
    /// The authentication of the package if its hashes match.
    pub authentication: Authentication,
}

/// The authentication of a package, as `init` reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// The source has neither a checksum nor a signature.
    None,
    /// The checksum of the source matches.
    Checksum,
    /// HashiCorp signed the checksum.
    Official,
    /// A partner of the registry signed the checksum.
    Partner(String),
    /// The author signed the checksum with the key of this ID.
    SelfSigned(String),
}

impl Authentication {
    /// Whether anyone but HashiCorp signed the package.
    pub fn is_third_party(&self) -> bool {
        matches!(self, Self::Partner(_) | Self::SelfSigned(_))
    }
}

/// Formats the authentication: `unauthenticated`, `signed by HashiCorp`, …
impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("unauthenticated"),
            Self::Checksum => f.write_str("verified checksum"),
            Self::Official => f.write_str("signed by HashiCorp"),
            Self::Partner(key) => write!(f, "signed by a HashiCorp partner, key ID {key}"),
            Self::SelfSigned(key) => write!(f, "self-signed, key ID {key}"),
        }
    }
}

/// The reason why a source has no package. Follows a heading that names the provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The source does not have the provider.
    #[error("{0}")]
    NotFound(String),
    /// No package supports this program or platform.
    #[error("{0}")]
    Incompatible(String),
    /// The source could not be read or sent an invalid response.
    #[error("{0}")]
    Failed(String),
    /// The source has no suitable version.
    #[error(transparent)]
    Version(Box<VersionError>),
    /// The package cannot be used.
    #[error(transparent)]
    Package(#[from] PackageError),
}

impl From<VersionError> for SourceError {
    fn from(error: VersionError) -> Self {
        Self::Version(Box::new(error))
    }
}

impl SourceError {
    pub(crate) fn failed(problem: impl fmt::Display) -> Self {
        Self::Failed(problem.to_string())
    }
}
