//! Key providers, and the metadata from which they recover their keys.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;

use crate::error::{EncryptionError, KeyError};
use crate::pbkdf2::{Derivation, Pbkdf2};

/// The metadata of the key providers of a method, by name: a JSON document in Base64. It recovers the same keys.
pub(crate) type Metadata = BTreeMap<String, String>;

/// OpenTofu's minimum for a passphrase, and for the keys of a chained provider, in bytes.
const MINIMUM_PASSPHRASE: usize = 16;

/// A configured key provider.
#[derive(Clone, Debug)]
pub struct KeyProvider {
    /// The name of its metadata in files: `key_provider.TYPE.NAME`, or the `encrypted_metadata_alias`.
    pub name: String,
    /// The source of its keys, by the type of the provider.
    pub source: KeySource,
}

/// A source of keys.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// `pbkdf2`: derives keys.
    Pbkdf2 {
        /// The input of the derivation.
        secret: Secret,
        /// The parameters of the derivation.
        settings: Pbkdf2,
    },
    /// `external`, or a key management service.
    Service(Arc<dyn KeyService>),
    /// Keys that the configuration itself contains.
    Static(StaticKeys),
}

/// Keys that a configuration contains instead of naming a key provider.
#[derive(Clone)]
pub struct StaticKeys {
    /// `encryption_key`.
    pub encryption_key: Vec<u8>,
    /// `decryption_key`, usually the same.
    pub decryption_key: Vec<u8>,
}

/// The secret that `pbkdf2` derives keys from.
#[derive(Clone)]
pub enum Secret {
    /// `passphrase`.
    Passphrase(String),
    /// `chain`: the keys of another key provider.
    Chain(Box<KeyProvider>),
}

/// A program or a network service that supplies keys.
pub trait KeyService: fmt::Debug + Send + Sync {
    /// Generates a key for encryption, with the metadata that recovers it.
    ///
    /// # Errors
    /// Fails if the service cannot be reached or refuses. The message contains no secrets.
    fn generate(&self) -> Result<GeneratedKey, KeyError>;

    /// Recovers the key that a file was encrypted with. `metadata` is `None` if the file has none of this provider.
    /// Returns `None` if the metadata describes no key of this provider.
    ///
    /// # Errors
    /// Fails if the service cannot be reached or refuses. The message contains no secrets.
    fn recover(&self, metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError>;
}

/// A newly generated key.
pub struct GeneratedKey {
    /// The key in plaintext. A secret, so this type is not `Debug`.
    pub key: Vec<u8>,
    /// A JSON document from which [`KeyService::recover`] gets the same key. Contains no secrets.
    pub metadata: Vec<u8>,
}

impl fmt::Debug for StaticKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StaticKeys(..)")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passphrase(_) => f.write_str("Passphrase(..)"),
            Self::Chain(provider) => f.debug_tuple("Chain").field(provider).finish(),
        }
    }
}

impl Secret {
    /// Checks the length of a passphrase.
    ///
    /// # Errors
    /// Fails if it has fewer than 16 characters.
    pub fn passphrase(text: String) -> Result<Self, KeyError> {
        // Bytes are counted, as in OpenTofu.
        if text.len() < MINIMUM_PASSPHRASE {
            return Err(KeyError::argument(format!(
                "the passphrase is too short: it must have at least {MINIMUM_PASSPHRASE} characters"
            )));
        }
        Ok(Self::Passphrase(text))
    }

    /// Checks the key provider of a chain.
    ///
    /// # Errors
    /// Fails if its keys are known to have fewer than 16 bytes.
    pub fn chain(keys: KeyProvider) -> Result<Self, KeyError> {
        if keys.key_length().is_some_and(|length| length < MINIMUM_PASSPHRASE) {
            return Err(KeyError::argument(format!(
                "the keys of the chain are too short: they must have at least {MINIMUM_PASSPHRASE} bytes"
            )));
        }
        Ok(Self::Chain(Box::new(keys)))
    }
}

impl KeyProvider {
    /// Returns the length of its keys in bytes, if that is known before one is generated.
    pub(crate) fn key_length(&self) -> Option<usize> {
        match &self.source {
            KeySource::Pbkdf2 { settings, .. } => Some(settings.key_length()),
            KeySource::Static(keys) => Some(keys.encryption_key.len()),
            KeySource::Service(_) => None,
        }
    }

    /// Generates a key and adds its metadata to `metadata`.
    pub(crate) fn generate(&self, metadata: &mut Metadata) -> Result<Vec<u8>, EncryptionError> {
        match &self.source {
            KeySource::Static(keys) => Ok(keys.encryption_key.clone()),
            KeySource::Service(service) => {
                let generated = service.generate().map_err(|error| self.failed(&error))?;
                self.add_metadata(&generated.metadata, metadata)?;
                Ok(generated.key)
            }
            KeySource::Pbkdf2 { secret, settings } => {
                let secret = match secret {
                    Secret::Passphrase(passphrase) => passphrase.as_bytes().to_vec(),
                    // The first provider of the chain adds its metadata as well, because decryption runs the whole
                    // chain again.
                    Secret::Chain(provider) => provider.generate(metadata)?,
                };
                let derivation = settings.derivation()?;
                self.add_metadata(&encode_metadata(&derivation).map_err(|error| self.failed(&error))?, metadata)?;
                derivation.key(&secret).ok_or_else(|| self.failed(&KeyError::system("the key derivation failed")))
            }
        }
    }

    /// Recovers the key of a file with this metadata. Returns `None` if none of it belongs to this provider.
    pub(crate) fn recover(&self, metadata: &Metadata) -> Result<Option<Vec<u8>>, EncryptionError> {
        // Metadata that is not Base64 counts as missing, so that another method or a fallback may still decrypt the
        // file.
        let own = metadata.get(&self.name).and_then(|encoded| BASE64_STANDARD.decode(encoded).ok());
        match &self.source {
            KeySource::Static(keys) => Ok(Some(keys.decryption_key.clone())),
            KeySource::Service(service) => service.recover(own.as_deref()).map_err(|error| self.failed(&error)),
            KeySource::Pbkdf2 { secret, .. } => {
                // The parameters of the file count, not the configured ones, which may have changed since.
                let Some(derivation) = own.and_then(|own| serde_json::from_slice::<Derivation>(&own).ok()) else {
                    return Ok(None);
                };
                match secret {
                    Secret::Passphrase(passphrase) => Ok(derivation.key(passphrase.as_bytes())),
                    Secret::Chain(provider) => {
                        Ok(provider.recover(metadata)?.and_then(|secret| derivation.key(&secret)))
                    }
                }
            }
        }
    }

    fn add_metadata(&self, own: &[u8], metadata: &mut Metadata) -> Result<(), EncryptionError> {
        // Reported when the key is generated: a file with one of the two documents could never be decrypted.
        if metadata.insert(self.name.clone(), BASE64_STANDARD.encode(own)).is_some() {
            return Err(EncryptionError::new(
                "Duplicate metadata key",
                format!(
                    "Two key providers of one method store their metadata under the name {}. Set a different encrypted_metadata_alias for each.",
                    self.name
                ),
            ));
        }
        Ok(())
    }

    fn failed(&self, error: &KeyError) -> EncryptionError {
        EncryptionError::new(
            "Unable to fetch encryption key data",
            format!("The key provider {} did not supply a key: {error}.", self.name),
        )
    }
}

/// Serializes the metadata of a key provider.
pub(crate) fn encode_metadata(metadata: &impl Serialize) -> Result<Vec<u8>, KeyError> {
    serde_json::to_vec(metadata).map_err(|error| KeyError::system(format!("cannot encode the key metadata: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_passphrase_is_rejected_and_debug_output_hides_it() {
        assert!(Secret::passphrase("too short".into()).is_err());
        let secret = Secret::passphrase("correct horse battery".into()).unwrap();
        assert!(!format!("{secret:?}").contains("horse"));
    }
}
