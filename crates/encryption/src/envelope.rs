//! The JSON envelope of an encrypted file.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groma_diagnostics::json_reason;
use serde::{Deserialize, Serialize};

use crate::error::EncryptionError;
use crate::key_provider::Metadata;

/// The only version of the format that exists.
const VERSION: &str = "v0";

/// The fields of a state that stay in plaintext, so that backends can compare copies without a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lineage {
    /// The serial of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<u64>,
    /// The lineage of the state; empty if unknown.
    #[serde(default)]
    pub lineage: String,
}

/// The fields in the order in which OpenTofu writes them.
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
    // A saved plan in plaintext is a zip archive, possibly a large one: the first byte is enough to exclude it.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return None;
    }
    serde_json::from_slice(bytes)
        .ok()
        // A state in plaintext is JSON too; only the version field identifies an envelope.
        .filter(|sniff: &Sniff| sniff.encryption_version.as_ref().is_some_and(|version| !version.is_empty()))
}

/// Whether the content of a file is an encryption envelope.
pub fn is_sealed(bytes: &[u8]) -> bool {
    sniff(bytes).is_some()
}

/// Whether the content of a file is the envelope of a plan, which unlike that of a state has no serial and no lineage.
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
        // Refused before decryption, whose failure would suggest a wrong key.
        if envelope.encryption_version != VERSION {
            return Err(invalid(format!(
                "The file has version {:?} of the encryption format, and this program supports only version {VERSION:?}.",
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
        serde_json::to_vec(&envelope)
            .map_err(|error| EncryptionError::new("Encryption failed", format!("Cannot write the envelope: {error}.")))
    }
}
