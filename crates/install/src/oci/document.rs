//! The documents of the distribution protocol, as far as packages need them.

use serde::Deserialize;

/// The media type of layers that are archives.
const ARCHIVE: &str = "archive/zip";

/// A manifest or an index of manifests.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    /// The artifact type of the manifest.
    #[serde(default)]
    pub artifact_type: String,
    /// The layers of the artifact.
    #[serde(default)]
    pub layers: Vec<Descriptor>,
    /// The manifests of an index.
    #[serde(default)]
    pub manifests: Vec<Descriptor>,
}

/// A descriptor of another document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// The media type of the content.
    pub media_type: String,
    /// The artifact type of the content.
    #[serde(default)]
    pub artifact_type: String,
    /// The hash of its bytes: `sha256:` and hexadecimal digits.
    pub digest: String,
    /// The size in bytes.
    pub size: u64,
    /// The machine that it is for.
    pub platform: Option<Machine>,
}

/// A platform of the artifact.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Machine {
    /// Its operating system, as Go names it.
    pub os: String,
    /// Its processor, as Go names it.
    pub architecture: String,
}

impl Manifest {
    /// The archive that a thing of the type `wanted` consists of.
    ///
    /// # Errors
    /// It is of another type, or has no archive or several.
    pub(crate) fn archive(&self, wanted: &str) -> Result<&Descriptor, String> {
        if self.artifact_type != wanted {
            return Err(format!("it holds {:?} where {wanted:?} is expected", self.artifact_type));
        }
        let mut archives = self.layers.iter().filter(|layer| layer.media_type == ARCHIVE);
        match (archives.next(), archives.next()) {
            (Some(archive), None) => Ok(archive),
            _ => Err(format!("it needs one layer of the type {ARCHIVE:?}")),
        }
    }
}

impl Descriptor {
    /// The hexadecimal digits of the digest, if it is a SHA-256 in its one form.
    pub(crate) fn sha256(&self) -> Option<&str> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        self.digest.strip_prefix("sha256:").filter(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
    }
}
