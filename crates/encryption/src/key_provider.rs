//! Key providers: where keys come from.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::error::EncryptionError;
use crate::pbkdf2::{Derivation, Pbkdf2, Secret};

/// What the key providers of a method need to make the same keys again, by their addresses; each in JSON, in Base64.
pub(crate) type Metadata = BTreeMap<String, String>;

/// A key provider, under the name by which its notes are found in a file.
#[derive(Debug)]
pub struct KeyProvider {
    /// `key_provider.TYPE.NAME`, or what `encrypted_metadata_alias` says.
    pub name: String,
    /// The rest of it.
    pub settings: Pbkdf2,
}

impl KeyProvider {
    /// A key that was never used before; what is needed to make it again goes to `metadata`.
    pub(crate) fn fresh(&self, metadata: &mut Metadata) -> Result<Vec<u8>, EncryptionError> {
        let derivation = self.settings.fresh()?;
        let secret = match &self.settings.secret {
            Secret::Passphrase(passphrase) => passphrase.as_bytes().to_vec(),
            Secret::Chain(provider) => provider.fresh(metadata)?,
        };
        let notes = serde_json::to_vec(&derivation).map_err(|error| {
            EncryptionError::new("Unable to encode encrypted metadata", format!("{}: {error}.", self.name))
        })?;
        if metadata.insert(self.name.clone(), BASE64_STANDARD.encode(notes)).is_some() {
            return Err(EncryptionError::new(
                "Duplicate metadata key",
                format!(
                    "Two key providers of one method keep what they note under the name {}. Give each an encrypted_metadata_alias of its own.",
                    self.name
                ),
            ));
        }
        derivation.key(&secret).ok_or_else(|| {
            EncryptionError::new("Unable to fetch encryption key data", format!("{} gave no key.", self.name))
        })
    }

    /// The key of a file with these notes; none if they are not this provider's.
    pub(crate) fn noted(&self, metadata: &Metadata) -> Option<Vec<u8>> {
        let notes = BASE64_STANDARD.decode(metadata.get(&self.name)?).ok()?;
        let derivation: Derivation = serde_json::from_slice(&notes).ok()?;
        match &self.settings.secret {
            Secret::Passphrase(passphrase) => derivation.key(passphrase.as_bytes()),
            Secret::Chain(provider) => derivation.key(&provider.noted(metadata)?),
        }
    }
}
