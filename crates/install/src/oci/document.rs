//! The documents of the distribution protocol, as far as packages need them.

use serde::Deserialize;

/// What layers that are archives say of themselves.
const ARCHIVE: &str = "archive/zip";

/// A manifest or an index of manifests.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    /// What the thing as a whole is.
    #[serde(default)]
    pub artifact_type: String,
    /// Its parts.
    #[serde(default)]
    pub layers: Vec<Descriptor>,
    /// The manifests of an index.
    #[serde(default)]
    pub manifests: Vec<Descriptor>,
}

/// What a document says of another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// How its bytes are written.
    pub media_type: String,
    /// What it is.
    #[serde(default)]
    pub artifact_type: String,
    /// The hash of its bytes: `sha256:` and hexadecimal digits.
    pub digest: String,
    /// How many bytes it has.
    pub size: u64,
    /// The machine that it is for.
    pub platform: Option<Machine>,
}

/// A machine.
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
