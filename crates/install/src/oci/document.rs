//! The documents of the OCI distribution protocol, as far as packages need them.

use serde::Deserialize;

/// The media type of archive layers.
const ARCHIVE: &str = "archive/zip";

/// A manifest, or an index of manifests.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    /// The artifact type.
    #[serde(default)]
    pub artifact_type: String,
    /// The layers of a manifest.
    #[serde(default)]
    pub layers: Vec<Descriptor>,
    /// The manifests of an index.
    #[serde(default)]
    pub manifests: Vec<Descriptor>,
}

/// A reference to another document or blob.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// The media type of the content.
    pub media_type: String,
    /// The artifact type of the content.
    #[serde(default)]
    pub artifact_type: String,
    /// The digest of the content: `sha256:` and hexadecimal digits.
    pub digest: String,
    /// The size of the content in bytes.
    pub size: u64,
    /// The platform that the content is for.
    pub platform: Option<Machine>,
}

/// A platform.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Machine {
    /// The operating system, in Go's spelling.
    pub os: String,
    /// The processor architecture, in Go's spelling.
    pub architecture: String,
}

/// The reason why a manifest is not that of an archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("it holds {found:?} where {wanted:?} is expected")]
    WrongType { found: String, wanted: String },
    #[error("it needs one layer of the type {ARCHIVE:?}")]
    NotOneArchive,
}

impl Manifest {
    /// Returns the only archive of an artifact of type `wanted`.
    ///
    /// # Errors
    /// Fails if the artifact has another type, no archive, or several.
    pub(crate) fn archive(&self, wanted: &str) -> Result<&Descriptor, ManifestError> {
        if self.artifact_type != wanted {
            return Err(ManifestError::WrongType { found: self.artifact_type.clone(), wanted: wanted.to_owned() });
        }
        let mut archives = self.layers.iter().filter(|layer| layer.media_type == ARCHIVE);
        match (archives.next(), archives.next()) {
            (Some(archive), None) => Ok(archive),
            _ => Err(ManifestError::NotOneArchive),
        }
    }
}

impl Descriptor {
    /// Returns the hexadecimal digits of a canonical SHA-256 digest.
    pub(crate) fn sha256(&self) -> Option<&str> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        self.digest.strip_prefix("sha256:").filter(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
    }
}
