//! AES-GCM: what is sealed is a nonce, the text and a tag, one after the other.

use aws_lc_rs::aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::rand;

use crate::error::EncryptionError;

/// How many bytes a key may have.
pub(crate) const KEY_LENGTHS: [usize; 3] = [16, 24, 32];

/// A key of `length` bytes is none for this cipher.
pub(crate) fn wrong_length(length: usize) -> EncryptionError {
    EncryptionError::new(
        "Invalid method configuration",
        format!(
            "AES-GCM needs a key of 16, 24 or 32 bytes, and the key provider makes one of {length} bytes. Set its key_length."
        ),
    )
}

/// A key that seals and opens.
pub(crate) struct Cipher {
    key: LessSafeKey,
    /// What is authenticated along with every text.
    associated: Vec<u8>,
}

impl Cipher {
    /// The cipher of a key of 16, 24 or 32 bytes.
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

    /// Seals `text` under a nonce that was never used before.
    pub(crate) fn seal(&self, text: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        let failed =
            |_| EncryptionError::new("Encryption failed", "The system gave no random numbers, or too little memory.");
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

    /// The text that was sealed; none if it was sealed otherwise, or has been changed since.
    pub(crate) fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, text) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut text = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let length = self.key.open_in_place(nonce, Aad::from(&self.associated), &mut text).ok()?.len();
        text.truncate(length);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_can_be_opened_with_the_same_key_and_data_only() {
        for length in KEY_LENGTHS {
            let cipher = Cipher::new(&vec![7; length], b"with").unwrap();
            let sealed = cipher.seal(b"secret").unwrap();
            assert_ne!(sealed, cipher.seal(b"secret").unwrap());
            assert_eq!(cipher.open(&sealed).unwrap(), b"secret");
            assert!(Cipher::new(&vec![8; length], b"with").unwrap().open(&sealed).is_none());
            assert!(Cipher::new(&vec![7; length], b"").unwrap().open(&sealed).is_none());
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
