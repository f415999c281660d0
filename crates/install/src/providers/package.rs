//! A package that a source offers, and what was found out about it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use groma_config::version::Version;

use crate::http::{Url, without_secrets};
use crate::oci::{Descriptor, Repository};

/// Where the bytes of a package are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A folder with its files.
    Folder(PathBuf),
    /// An archive on this machine.
    Archive(PathBuf),
    /// An archive to be downloaded.
    Download {
        /// From where.
        url: Url,
        /// What it is called.
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

/// What a source says about one package.
#[derive(Clone, Debug)]
pub struct PackageMeta {
    /// Its version.
    pub version: Version,
    /// Where it is.
    pub location: Location,
    /// Hashes of the package one of which it must have; empty where the source tells none.
    pub required: Vec<Arc<str>>,
    /// Further hashes of the version that the source vouches for, for the lock file.
    pub vouched: Vec<Arc<str>>,
    /// How far it can be trusted when the hashes are right.
    pub authentication: Authentication,
}

/// How far a package was authenticated, as `init` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// Not at all.
    None,
    /// It has the checksum that its source says.
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

/// Why a source cannot say what it has. The text follows a heading that names the provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The source does not have the provider at all.
    #[error("{0}")]
    NotFound(String),
    /// What it has is not for this program or this machine.
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
