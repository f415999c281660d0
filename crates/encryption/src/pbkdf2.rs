//! Keys that are derived from a secret.

use std::num::NonZeroU32;

use aws_lc_rs::{pbkdf2, rand};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::error::EncryptionError;

/// Fewer are not taken, neither of a configuration nor of what lies in a file.
const MINIMUM_ITERATIONS: u32 = 200_000;

/// No file makes us work for longer than this.
const MAXIMUM_ITERATIONS: u32 = 100_000_000;

/// More bytes than any method takes.
const MAXIMUM_LENGTH: usize = 1024;

/// How keys are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HashFunction {
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

impl HashFunction {
    /// The function of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "sha256" => Some(Self::Sha256),
            "sha512" => Some(Self::Sha512),
            _ => None,
        }
    }

    fn algorithm(self) -> pbkdf2::Algorithm {
        match self {
            Self::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
            Self::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
        }
    }
}

/// The settings of a `pbkdf2` key provider.
#[derive(Clone, Debug)]
pub struct Pbkdf2 {
    key_length: usize,
    iterations: NonZeroU32,
    hash_function: HashFunction,
    salt_length: usize,
}

/// What has to be known to derive the same key again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Derivation {
    salt: String,
    iterations: u32,
    hash_function: HashFunction,
    key_length: usize,
}

/// What counts where nothing is written.
impl Default for Pbkdf2 {
    fn default() -> Self {
        Self {
            key_length: 32,
            iterations: const { NonZeroU32::new(600_000).unwrap() },
            hash_function: HashFunction::Sha512,
            salt_length: 32,
        }
    }
}

impl Pbkdf2 {
    /// How many bytes the keys have.
    pub(crate) fn key_length(&self) -> usize {
        self.key_length
    }

    /// The same with keys of `length` bytes.
    ///
    /// # Errors
    /// When that is no length of a key.
    pub fn with_key_length(self, length: i64) -> Result<Self, String> {
        let key_length = sensible_length(length).ok_or(format!("key_length has to be from 1 to {MAXIMUM_LENGTH}"))?;
        Ok(Self { key_length, ..self })
    }

    /// The same with this many iterations.
    ///
    /// # Errors
    /// When they are dangerously few, or so many that nobody would see the end.
    pub fn with_iterations(self, iterations: i64) -> Result<Self, String> {
        let iterations = u32::try_from(iterations)
            .ok()
            .filter(|number| (MINIMUM_ITERATIONS..=MAXIMUM_ITERATIONS).contains(number))
            .and_then(NonZeroU32::new)
            .ok_or(format!("iterations has to be from {MINIMUM_ITERATIONS} to {MAXIMUM_ITERATIONS}"))?;
        Ok(Self { iterations, ..self })
    }

    /// The same with salts of `length` bytes.
    ///
    /// # Errors
    /// When that is no length of a salt.
    pub fn with_salt_length(self, length: i64) -> Result<Self, String> {
        let salt_length = sensible_length(length).ok_or(format!("salt_length has to be from 1 to {MAXIMUM_LENGTH}"))?;
        Ok(Self { salt_length, ..self })
    }

    /// The same with another hash function.
    #[must_use]
    pub fn with_hash_function(self, hash_function: HashFunction) -> Self {
        Self { hash_function, ..self }
    }

    /// A derivation with a salt that was never used before.
    pub(crate) fn fresh(&self) -> Result<Derivation, EncryptionError> {
        let mut salt = vec![0; self.salt_length];
        rand::fill(&mut salt).map_err(|_| {
            EncryptionError::new("Unable to fetch encryption key data", "The system gave no random numbers for a salt.")
        })?;
        Ok(Derivation {
            salt: BASE64_STANDARD.encode(salt),
            iterations: self.iterations.get(),
            hash_function: self.hash_function,
            key_length: self.key_length,
        })
    }
}

fn sensible_length(length: i64) -> Option<usize> {
    usize::try_from(length).ok().filter(|length| (1..=MAXIMUM_LENGTH).contains(length))
}

impl Derivation {
    /// The key; none if what lies in the file is no derivation of ours.
    pub(crate) fn key(&self, secret: &[u8]) -> Option<Vec<u8>> {
        let salt = BASE64_STANDARD.decode(&self.salt).ok().filter(|salt| !salt.is_empty())?;
        let iterations = NonZeroU32::new(self.iterations).filter(|number| number.get() <= MAXIMUM_ITERATIONS)?;
        if !(1..=MAXIMUM_LENGTH).contains(&self.key_length) {
            return None;
        }
        let mut key = vec![0; self.key_length];
        pbkdf2::derive(self.hash_function.algorithm(), iterations, &salt, secret, &mut key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 7914, section 11.
    #[test]
    fn keys_are_derived_as_the_standard_says() {
        let derivation = Derivation {
            salt: BASE64_STANDARD.encode("salt"),
            iterations: 1,
            hash_function: HashFunction::Sha256,
            key_length: 64,
        };
        assert!(
            hex(&derivation.key(b"passwd").unwrap()).starts_with("55ac046e56e3089fec1691c22544b605f94185216dde0465e6")
        );
    }

    #[test]
    fn settings_that_are_no_protection_are_refused() {
        let provider = Pbkdf2::default;
        assert!(provider().with_iterations(199_999).is_err());
        assert!(provider().with_iterations(-1).is_err());
        assert!(provider().with_iterations(200_000).is_ok());
        assert!(provider().with_key_length(0).is_err());
        assert!(provider().with_salt_length(0).is_err());
    }

    #[test]
    fn a_derivation_out_of_a_damaged_file_is_none() {
        let sound = Pbkdf2::default().fresh().unwrap();
        let damaged = [
            Derivation { salt: "?".into(), ..sound.clone() },
            Derivation { salt: String::new(), ..sound.clone() },
            Derivation { iterations: 0, ..sound.clone() },
            Derivation { iterations: u32::MAX, ..sound.clone() },
            Derivation { key_length: 0, ..sound.clone() },
            Derivation { key_length: usize::MAX, ..sound },
        ];
        assert!(damaged.iter().all(|derivation| derivation.key(b"secret").is_none()));
    }
}
