//! The envelope: what a file holds whose content is sealed.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groma_diagnostics::json_reason;
use serde::{Deserialize, Serialize};

use crate::error::EncryptionError;
use crate::key_provider::Metadata;

/// The only version of the format.
const VERSION: &str = "v0";

/// What of a state is told outside of the envelope, so that copies can be compared without a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lineage {
    /// How often the state was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<u64>,
    /// Which state it is.
    #[serde(default)]
    pub lineage: String,
}

/// The fields, in the order in which they are written.
#[derive(Serialize, Deserialize)]
pub(crate) struct Envelope {
    #[serde(flatten)]
    pub(crate) lineage: Option<Lineage>,
    pub(crate) meta: Metadata,
    encrypted_data: String,
    encryption_version: String,
}

#[derive(Deserialize)]
struct Sniff {
    encryption_version: Option<String>,
    lineage: Option<String>,
    serial: Option<serde_json::Value>,
}

fn sniff(bytes: &[u8]) -> Option<Sniff> {
    // Anything else is no envelope, and most of it need not be read to the end to see that.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return None;
    }
    serde_json::from_slice(bytes)
        .ok()
        .filter(|sniff: &Sniff| sniff.encryption_version.as_ref().is_some_and(|version| !version.is_empty()))
}

/// Whether a file with this content is sealed.
pub fn is_sealed(bytes: &[u8]) -> bool {
    sniff(bytes).is_some()
}

/// Whether it is a sealed plan.
pub fn is_sealed_plan(bytes: &[u8]) -> bool {
    sniff(bytes).is_some_and(|sniff| sniff.lineage.is_none() && sniff.serial.is_none())
}

impl Envelope {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, EncryptionError> {
        let invalid = |detail: String| EncryptionError::new("Invalid encrypted content", detail);
        let envelope: Self = serde_json::from_slice(bytes).map_err(|error| {
            invalid(format!(
                "The encrypted file is damaged: {error}. Restore it from a backup.",
                error = json_reason(&error)
            ))
        })?;
        if envelope.encryption_version != VERSION {
            return Err(invalid(format!(
                "The file is encrypted in version {:?} of the format, and this program knows {VERSION:?} only.",
                envelope.encryption_version
            )));
        }
        Ok(envelope)
    }

    pub(crate) fn content(&self) -> Result<Vec<u8>, EncryptionError> {
        BASE64_STANDARD.decode(&self.encrypted_data).map_err(|error| {
            let detail = format!("The encrypted content is damaged: {error}. Restore the file from a backup.");
            EncryptionError::new("Invalid encrypted content", detail)
        })
    }

    pub(crate) fn write(lineage: Option<&Lineage>, meta: &Metadata, sealed: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        let envelope = Self {
            lineage: lineage.cloned(),
            meta: meta.clone(),
            encrypted_data: BASE64_STANDARD.encode(sealed),
            encryption_version: VERSION.to_owned(),
        };
        serde_json::to_vec(&envelope).map_err(|error| {
            EncryptionError::new("Encryption failed", format!("The envelope cannot be written: {error}."))
        })
    }
}
