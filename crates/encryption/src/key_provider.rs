//! Key providers: where keys come from.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;

use crate::error::EncryptionError;
use crate::pbkdf2::{Derivation, Pbkdf2};

/// What the key providers of a method need to make the same keys again, by their addresses; each in JSON, in Base64.
pub(crate) type Metadata = BTreeMap<String, String>;

/// What a passphrase has to have at least.
const MINIMUM_PASSPHRASE: usize = 16;

/// A key provider, under the name by which its notes are found in a file.
#[derive(Clone, Debug)]
pub struct KeyProvider {
    /// `key_provider.TYPE.NAME`, or what `encrypted_metadata_alias` says.
    pub name: String,
    /// Where its keys come from.
    pub source: KeySource,
}

/// Where keys come from.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// They are derived from a secret.
    Pbkdf2 {
        /// From what.
        secret: Secret,
        /// How.
        settings: Pbkdf2,
    },
    /// Somebody else is asked for them.
    Service(Arc<dyn KeyService>),
    /// They are written in the configuration.
    Written(WrittenKeys),
}

/// Keys that are written in the configuration.
#[derive(Clone)]
pub struct WrittenKeys {
    /// What seals.
    pub sealing: Vec<u8>,
    /// What opens.
    pub opening: Vec<u8>,
}

/// What keys are derived from.
#[derive(Clone)]
pub enum Secret {
    /// A text that people know.
    Passphrase(String),
    /// The keys of another provider.
    Chain(Box<KeyProvider>),
}

/// Somebody who is asked for keys: another program, or a service in a network.
pub trait KeyService: fmt::Debug + Send + Sync {
    /// A key to seal with, and what has to be kept beside what is sealed.
    ///
    /// # Errors
    /// When there is none. The text is for people, and has no secrets.
    fn fresh(&self) -> Result<FreshKey, String>;

    /// The key for what was sealed beside these notes; `notes` are none where there are none of this provider.
    /// None if the notes tell of no key.
    ///
    /// # Errors
    /// As for [`Self::fresh`].
    fn noted(&self, notes: Option<&[u8]>) -> Result<Option<Vec<u8>>, String>;
}

/// A key to seal with.
pub struct FreshKey {
    /// The key.
    pub key: Vec<u8>,
    /// What makes the same key again, in JSON; nothing secret.
    pub notes: Vec<u8>,
}

/// Keys are never shown.
impl fmt::Debug for WrittenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WrittenKeys(..)")
    }
}

/// A passphrase is never shown.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passphrase(_) => f.write_str("Passphrase(..)"),
            Self::Chain(provider) => f.debug_tuple("Chain").field(provider).finish(),
        }
    }
}

impl Secret {
    /// A passphrase that protects.
    ///
    /// # Errors
    /// When it is too short; the text says so.
    pub fn passphrase(text: String) -> Result<Self, String> {
        if text.len() < MINIMUM_PASSPHRASE {
            return Err(format!(
                "the passphrase is too short: it has to have {MINIMUM_PASSPHRASE} characters at least"
            ));
        }
        Ok(Self::Passphrase(text))
    }

    /// Keys of another provider that protect.
    ///
    /// # Errors
    /// When they are known to be too short; the text says so.
    pub fn chain(keys: KeyProvider) -> Result<Self, String> {
        if keys.key_length().is_some_and(|length| length < MINIMUM_PASSPHRASE) {
            return Err(format!(
                "the keys of the chain are too short: they have to have {MINIMUM_PASSPHRASE} bytes at least"
            ));
        }
        Ok(Self::Chain(Box::new(keys)))
    }
}

impl KeyProvider {
    /// How many bytes its keys have, if that is known before one is made.
    pub(crate) fn key_length(&self) -> Option<usize> {
        match &self.source {
            KeySource::Pbkdf2 { settings, .. } => Some(settings.key_length()),
            KeySource::Written(keys) => Some(keys.sealing.len()),
            KeySource::Service(_) => None,
        }
    }

    /// A key that was never used before; what is needed to make it again goes to `metadata`.
    pub(crate) fn fresh(&self, metadata: &mut Metadata) -> Result<Vec<u8>, EncryptionError> {
        match &self.source {
            KeySource::Written(keys) => Ok(keys.sealing.clone()),
            KeySource::Service(service) => {
                let FreshKey { key, notes } = service.fresh().map_err(|problem| self.failed(&problem))?;
                self.note(&notes, metadata)?;
                Ok(key)
            }
            KeySource::Pbkdf2 { secret, settings } => {
                let secret = match secret {
                    Secret::Passphrase(passphrase) => passphrase.as_bytes().to_vec(),
                    Secret::Chain(provider) => provider.fresh(metadata)?,
                };
                let derivation = settings.fresh()?;
                self.note(&self.encoded(&derivation)?, metadata)?;
                derivation.key(&secret).ok_or_else(|| self.failed("it gave no key"))
            }
        }
    }

    /// The key of a file with these notes; none if they are not this provider's.
    pub(crate) fn noted(&self, metadata: &Metadata) -> Result<Option<Vec<u8>>, EncryptionError> {
        let notes = metadata.get(&self.name).and_then(|notes| BASE64_STANDARD.decode(notes).ok());
        match &self.source {
            KeySource::Written(keys) => Ok(Some(keys.opening.clone())),
            KeySource::Service(service) => service.noted(notes.as_deref()).map_err(|problem| self.failed(&problem)),
            KeySource::Pbkdf2 { secret, .. } => {
                let Some(derivation) = notes.and_then(|notes| serde_json::from_slice::<Derivation>(&notes).ok()) else {
                    return Ok(None);
                };
                match secret {
                    Secret::Passphrase(passphrase) => Ok(derivation.key(passphrase.as_bytes())),
                    Secret::Chain(provider) => Ok(provider.noted(metadata)?.and_then(|secret| derivation.key(&secret))),
                }
            }
        }
    }

    fn encoded(&self, notes: &impl Serialize) -> Result<Vec<u8>, EncryptionError> {
        serde_json::to_vec(notes).map_err(|error| {
            EncryptionError::new("Unable to encode encrypted metadata", format!("{}: {error}.", self.name))
        })
    }

    fn note(&self, notes: &[u8], metadata: &mut Metadata) -> Result<(), EncryptionError> {
        if metadata.insert(self.name.clone(), BASE64_STANDARD.encode(notes)).is_some() {
            return Err(EncryptionError::new(
                "Duplicate metadata key",
                format!(
                    "Two key providers of one method keep what they note under the name {}. Give each an encrypted_metadata_alias of its own.",
                    self.name
                ),
            ));
        }
        Ok(())
    }

    fn failed(&self, problem: &str) -> EncryptionError {
        EncryptionError::new(
            "Unable to fetch encryption key data",
            format!("The key provider {} gave no key: {problem}.", self.name),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_is_long_enough_and_never_shown() {
        assert!(Secret::passphrase("too short".into()).is_err());
        let secret = Secret::passphrase("correct horse battery".into()).unwrap();
        assert!(!format!("{secret:?}").contains("horse"));
    }
}
