//! Encryption methods.

use crate::cipher::{Cipher, KEY_LENGTHS, wrong_length};
use crate::error::{EncryptionError, KeyError};
use crate::external::ExternalMethod;
use crate::key_provider::{KeyProvider, Metadata};

/// An encryption method, configured by a `method` block.
#[derive(Clone, Debug)]
pub enum Method {
    /// `unencrypted`: files stay in plaintext.
    Unencrypted,
    /// `aes_gcm`: AES in Galois/Counter Mode.
    AesGcm {
        /// Supplies keys of 16, 24 or 32 bytes.
        keys: KeyProvider,
        /// Additional authenticated data.
        associated: Vec<u8>,
    },
    /// `external`: programs encrypt and decrypt.
    External {
        /// Supplies the keys to pass to the programs, if they have none themselves.
        keys: Option<KeyProvider>,
        /// One program for each direction.
        programs: ExternalMethod,
    },
}

/// A method with a key, ready to encrypt and decrypt.
pub(crate) enum Sealer {
    AesGcm(Cipher),
    External { key: Option<Vec<u8>>, programs: ExternalMethod },
}

impl Method {
    /// Checks that the method can use the keys of its key provider, as far as their length is known in advance.
    ///
    /// # Errors
    /// Fails if AES-GCM does not support the length.
    pub fn check(&self) -> Result<(), EncryptionError> {
        let Self::AesGcm { keys, .. } = self else { return Ok(()) };
        let wrong = keys.key_length().filter(|length| !KEY_LENGTHS.contains(length));
        wrong.map_or(Ok(()), |length| Err(wrong_length(length)))
    }

    /// Generates a key for encryption and adds its metadata to `metadata`. Returns `None` for `unencrypted`.
    pub(crate) fn generate(&self, metadata: &mut Metadata) -> Result<Option<Sealer>, EncryptionError> {
        match self {
            Self::Unencrypted => Ok(None),
            Self::AesGcm { keys, associated } => {
                Cipher::new(&keys.generate(metadata)?, associated).map(|cipher| Some(Sealer::AesGcm(cipher)))
            }
            Self::External { keys, programs } => {
                let key = keys.as_ref().map(|keys| keys.generate(metadata)).transpose()?;
                Ok(Some(Sealer::External { key, programs: programs.clone() }))
            }
        }
    }

    /// Recovers the key that `metadata` describes. Returns `None` if the method has no key for it.
    pub(crate) fn recover(&self, metadata: &Metadata) -> Result<Option<Sealer>, EncryptionError> {
        match self {
            Self::Unencrypted => Ok(None),
            Self::AesGcm { keys, associated } => {
                let key = keys.recover(metadata)?.filter(|key| KEY_LENGTHS.contains(&key.len()));
                key.map(|key| Cipher::new(&key, associated).map(Sealer::AesGcm)).transpose()
            }
            Self::External { keys: None, programs } => {
                Ok(Some(Sealer::External { key: None, programs: programs.clone() }))
            }
            Self::External { keys: Some(keys), programs } => {
                let key = keys.recover(metadata)?;
                Ok(key.map(|key| Sealer::External { key: Some(key), programs: programs.clone() }))
            }
        }
    }
}

impl Sealer {
    /// Whether each operation runs a program, which is too slow for small chunks.
    pub(crate) fn is_expensive(&self) -> bool {
        matches!(self, Self::External { .. })
    }

    pub(crate) fn seal(&self, text: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        match self {
            Self::AesGcm(cipher) => cipher.seal(text),
            Self::External { key, programs } => programs.seal(key.as_deref(), text).map_err(|problem| {
                EncryptionError::new("Encryption failed", format!("The external method failed: {problem}."))
            }),
        }
    }

    /// Decrypts. Returns `None` if the key is a different one or the data was modified.
    pub(crate) fn open(&self, sealed: &[u8]) -> Result<Option<Vec<u8>>, KeyError> {
        match self {
            Self::AesGcm(cipher) => Ok(cipher.open(sealed)),
            Self::External { key, programs } => programs.open(key.as_deref(), sealed).map(Some),
        }
    }
}
