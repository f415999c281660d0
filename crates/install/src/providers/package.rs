//! A package that a source offers, and what was found out about it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use groma_config::version::Version;

use crate::http::{Url, without_secrets};
use crate::oci::{Descriptor, Repository};

/// The location of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A folder with its files.
    Folder(PathBuf),
    /// An archive on this machine.
    Archive(PathBuf),
    /// An archive to be downloaded.
    Download {
        /// The URL of the archive.
        url: Url,
        /// The file name of the archive.
        filename: String,
    },
    /// An archive in an OCI registry: its repository, and what the registry says of it.
    Blob(Box<(Repository, Descriptor)>),
}

/// The path or the address, without what it holds of secrets.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) | Self::Archive(path) => path.display().fmt(f),
            Self::Download { url, .. } => f.write_str(&without_secrets(url)),
            Self::Blob(blob) => write!(f, "{}", blob.0),
        }
    }
}

/// A source's description of one package.
#[derive(Clone, Debug)]
pub struct PackageMeta {
    /// The version of the package.
    pub version: Version,
    /// The location of the package.
    pub location: Location,
    /// Hashes of the package one of which it must have; empty where the source tells none.
    pub required: Vec<Arc<str>>,
    /// Further hashes of the version that the source vouches for, for the lock file.
    pub vouched: Vec<Arc<str>>,
    /// The authentication of the package if its hashes match.
    pub authentication: Authentication,
}

/// The authentication of a package, as `init` reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// The package is not authenticated.
    None,
    /// The package has the checksum that its source declares.
    Checksum,
    /// HashiCorp has signed its checksum.
    Official,
    /// A partner of the registry has signed its checksum.
    Partner(String),
    /// The author has signed its checksum, with the key of this id.
    SelfSigned(String),
}

impl Authentication {
    /// Whether it was signed by somebody other than HashiCorp.
    pub fn is_third_party(&self) -> bool {
        matches!(self, Self::Partner(_) | Self::SelfSigned(_))
    }
}

/// `unauthenticated`, `signed by HashiCorp`, …
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

/// The error of querying a source. The message follows a heading that names the provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The source does not have the provider at all.
    #[error("{0}")]
    NotFound(String),
    /// The versions do not support this program or this platform.
    #[error("{0}")]
    Incompatible(String),
    /// The source cannot be used.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for SourceError {
    fn from(problem: String) -> Self {
        Self::Failed(problem)
    }
}

impl SourceError {
    pub(crate) fn failed(problem: impl fmt::Display) -> Self {
        Self::Failed(problem.to_string())
    }
}
