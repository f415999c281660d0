//! Ways to seal.

use crate::cipher::{Cipher, KEY_LENGTHS, wrong_length};
use crate::error::EncryptionError;
use crate::external::ExternalMethod;
use crate::key_provider::{KeyProvider, Metadata};

/// A way to seal.
#[derive(Clone, Debug)]
pub enum Method {
    /// Nothing is sealed.
    Unencrypted,
    /// AES in Galois/Counter Mode.
    AesGcm {
        /// Where the keys come from.
        keys: KeyProvider,
        /// What is authenticated along with the content.
        associated: Vec<u8>,
    },
    /// Other programs seal and open.
    External {
        /// Where their keys come from, if they do not have their own.
        keys: Option<KeyProvider>,
        /// The programs.
        programs: ExternalMethod,
    },
}

/// A method with its key.
pub(crate) enum Sealer {
    AesGcm(Cipher),
    External { key: Option<Vec<u8>>, programs: ExternalMethod },
}

impl Method {
    /// Whether it can have the keys that it is to have, as far as that is known before one is made.
    ///
    /// # Errors
    /// When their length is none for the method.
    pub fn check(&self) -> Result<(), EncryptionError> {
        let Self::AesGcm { keys, .. } = self else { return Ok(()) };
        let wrong = keys.key_length().filter(|length| !KEY_LENGTHS.contains(length));
        wrong.map_or(Ok(()), |length| Err(wrong_length(length)))
    }

    /// With a key that was never used before; what is needed to make it again goes to `metadata`. None if nothing is sealed.
    pub(crate) fn fresh(&self, metadata: &mut Metadata) -> Result<Option<Sealer>, EncryptionError> {
        match self {
            Self::Unencrypted => Ok(None),
            Self::AesGcm { keys, associated } => {
                Cipher::new(&keys.fresh(metadata)?, associated).map(|cipher| Some(Sealer::AesGcm(cipher)))
            }
            Self::External { keys, programs } => {
                let key = keys.as_ref().map(|keys| keys.fresh(metadata)).transpose()?;
                Ok(Some(Sealer::External { key, programs: programs.clone() }))
            }
        }
    }

    /// With the key that these notes tell of; none if there is none.
    pub(crate) fn noted(&self, metadata: &Metadata) -> Result<Option<Sealer>, EncryptionError> {
        match self {
            Self::Unencrypted => Ok(None),
            Self::AesGcm { keys, associated } => {
                let key = keys.noted(metadata)?.filter(|key| KEY_LENGTHS.contains(&key.len()));
                key.map(|key| Cipher::new(&key, associated).map(Sealer::AesGcm)).transpose()
            }
            Self::External { keys: None, programs } => {
                Ok(Some(Sealer::External { key: None, programs: programs.clone() }))
            }
            Self::External { keys: Some(keys), programs } => {
                let key = keys.noted(metadata)?;
                Ok(key.map(|key| Sealer::External { key: Some(key), programs: programs.clone() }))
            }
        }
    }
}

impl Sealer {
    /// Whether sealing is nothing for every small piece.
    pub(crate) fn is_dear(&self) -> bool {
        matches!(self, Self::External { .. })
    }

    pub(crate) fn seal(&self, text: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        match self {
            Self::AesGcm(cipher) => cipher.seal(text),
            Self::External { key, programs } => programs.seal(key.as_deref(), text).map_err(|problem| {
                EncryptionError::new("Encryption failed", format!("Nothing was sealed: {problem}."))
            }),
        }
    }

    /// What was sealed; none if it was sealed otherwise.
    pub(crate) fn open(&self, sealed: &[u8]) -> Result<Option<Vec<u8>>, String> {
        match self {
            Self::AesGcm(cipher) => Ok(cipher.open(sealed)),
            Self::External { key, programs } => programs.open(key.as_deref(), sealed).map(Some),
        }
    }
}
