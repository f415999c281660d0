//! Encryption methods, and AES-GCM, whose ciphertext is the nonce, the encrypted text and the tag, in this order.

use aws_lc_rs::aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::rand;

use crate::error::{EncryptionError, KeyError};
use crate::key_provider::{KeyProvider, Metadata};
use crate::program::ExternalMethod;

/// The supported key lengths in bytes: AES-128, AES-192 and AES-256.
pub(crate) const KEY_LENGTHS: [usize; 3] = [16, 24, 32];

/// Returns the error for a key of unsupported length.
pub(crate) fn wrong_length(length: usize) -> EncryptionError {
    EncryptionError::new(
        "Invalid method configuration",
        format!(
            "AES-GCM requires a key of 16, 24 or 32 bytes, but the key provider supplies one of {length} bytes. Set its key_length."
        ),
    )
}

/// An AES-GCM key with its additional authenticated data.
pub(crate) struct Cipher {
    key: LessSafeKey,
    /// Additional authenticated data, the same for every text.
    associated: Vec<u8>,
}

impl Cipher {
    /// Creates a cipher. Fails if the key does not have 16, 24 or 32 bytes.
    pub(crate) fn new(key: &[u8], associated: &[u8]) -> Result<Self, EncryptionError> {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            24 => &AES_192_GCM,
            32 => &AES_256_GCM,
            other => return Err(wrong_length(other)),
        };
        let key = UnboundKey::new(algorithm, key)
            .map_err(|_| EncryptionError::new("Invalid method configuration", "The key cannot be used for AES-GCM."))?;
        Ok(Self { key: LessSafeKey::new(key), associated: associated.to_owned() })
    }

    /// Encrypts a text with a random nonce.
    pub(crate) fn seal(&self, text: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        let failed = |_| {
            EncryptionError::new(
                "Encryption failed",
                "The operating system provides no random numbers or not enough memory.",
            )
        };
        // 96 random bits are safe for about 2^32 texts with one key; a run writes far fewer.
        let mut nonce = [0; NONCE_LEN];
        rand::fill(&mut nonce).map_err(failed)?;
        let mut sealed = Vec::with_capacity(NONCE_LEN + text.len() + self.key.algorithm().tag_len());
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(text);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, Aad::from(&self.associated), &mut sealed[NONCE_LEN..])
            .map_err(failed)?;
        sealed.extend_from_slice(tag.as_ref());
        Ok(sealed)
    }

    /// Decrypts a text. Returns `None` if key or additional data differ, or if the ciphertext was modified.
    pub(crate) fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        // A ciphertext shorter than its nonce is damaged, which is reported like a key that does not fit.
        let (nonce, text) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut text = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let length = self.key.open_in_place(nonce, Aad::from(&self.associated), &mut text).ok()?.len();
        text.truncate(length);
        Some(text)
    }
}

/// An encryption method, configured by a `method` block.
#[derive(Clone, Debug)]
pub enum Method {
    /// `unencrypted`: files stay in plaintext.
    Unencrypted,
    /// `aes_gcm`: AES in Galois/Counter Mode.
    AesGcm {
        /// Supplies keys of 16, 24 or 32 bytes.
        keys: KeyProvider,
        /// Additional authenticated data (the argument `aad`).
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
        // Key services reveal the length of a key only when they generate one; `Cipher::new` checks it then.
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
                // A key of another length cannot be the one that encrypted the file, so another method is tried instead
                // of failing.
                let key = keys.recover(metadata)?.filter(|key| KEY_LENGTHS.contains(&key.len()));
                key.map(|key| Cipher::new(&key, associated).map(Sealer::AesGcm)).transpose()
            }
            // Without a key provider the programs have keys of their own, so every file is passed to them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decryption_requires_the_same_key_data_and_ciphertext() {
        for length in KEY_LENGTHS {
            let cipher = Cipher::new(&vec![7; length], b"with").unwrap();
            let sealed = cipher.seal(b"secret").unwrap();
            assert_ne!(sealed, cipher.seal(b"secret").unwrap());
            assert_eq!(cipher.open(&sealed).unwrap(), b"secret");
            assert!(Cipher::new(&vec![8; length], b"with").unwrap().open(&sealed).is_none());
            assert!(Cipher::new(&vec![7; length], b"").unwrap().open(&sealed).is_none());
            // Every byte counts: nonce, text and tag.
            for at in 0..sealed.len() {
                let mut changed = sealed.clone();
                changed[at] ^= 1;
                assert!(cipher.open(&changed).is_none(), "{at}");
                assert!(cipher.open(&sealed[..at]).is_none(), "{at}");
            }
        }
        assert!(Cipher::new(&[0; 17], b"").is_err_and(|error| error.detail.contains("17 bytes")));
    }
}
