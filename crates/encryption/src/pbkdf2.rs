//! The `pbkdf2` key provider, which derives keys from a passphrase or from other keys.

use std::num::NonZeroU32;

use aws_lc_rs::{pbkdf2, rand};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::error::{EncryptionError, KeyError};

/// OpenTofu's minimum: fewer iterations protect a passphrase too little.
const MINIMUM_ITERATIONS: u32 = 200_000;

/// Limits the time that a manipulated file can cost: these iterations take about a minute.
const MAXIMUM_ITERATIONS: u32 = 100_000_000;

/// Limits keys and salts; no method uses longer keys.
const MAXIMUM_LENGTH: usize = 1024;

/// The hash function of PBKDF2-HMAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HashFunction {
    /// `sha256`, HMAC-SHA-256.
    Sha256,
    /// `sha512`, HMAC-SHA-512, the default.
    Sha512,
}

impl HashFunction {
    /// Parses the value of the argument `hash_function`.
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

/// The settings of a `pbkdf2` key provider. The defaults are OpenTofu's.
#[derive(Clone, Debug)]
pub struct Pbkdf2 {
    key_length: usize,
    iterations: NonZeroU32,
    hash_function: HashFunction,
    salt_length: usize,
}

/// The parameters that derive one key. Stored as metadata, in OpenTofu's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Derivation {
    salt: String,
    iterations: u32,
    hash_function: HashFunction,
    key_length: usize,
}

impl Default for Pbkdf2 {
    fn default() -> Self {
        Self {
            key_length: 32,
            // OpenTofu's default, which is OWASP's recommendation for PBKDF2-HMAC-SHA256.
            iterations: const { NonZeroU32::new(600_000).unwrap() },
            hash_function: HashFunction::Sha512,
            salt_length: 32,
        }
    }
}

impl Pbkdf2 {
    /// Returns the length of the keys in bytes.
    pub(crate) fn key_length(&self) -> usize {
        self.key_length
    }

    /// Sets the length of the keys in bytes.
    ///
    /// # Errors
    /// Fails if the length is not from 1 to 1024.
    pub fn with_key_length(self, length: i64) -> Result<Self, KeyError> {
        let key_length = valid_length(length)
            .ok_or_else(|| KeyError::argument(format!("key_length must be from 1 to {MAXIMUM_LENGTH}")))?;
        Ok(Self { key_length, ..self })
    }

    /// Sets the number of iterations.
    ///
    /// # Errors
    /// Fails for fewer than 200,000 iterations, which are insecure, and for more than 100 million, which take too long.
    pub fn with_iterations(self, iterations: i64) -> Result<Self, KeyError> {
        let iterations = u32::try_from(iterations)
            .ok()
            .filter(|number| (MINIMUM_ITERATIONS..=MAXIMUM_ITERATIONS).contains(number))
            .and_then(NonZeroU32::new)
            .ok_or_else(|| {
                KeyError::argument(format!("iterations must be from {MINIMUM_ITERATIONS} to {MAXIMUM_ITERATIONS}"))
            })?;
        Ok(Self { iterations, ..self })
    }

    /// Sets the length of salts in bytes.
    ///
    /// # Errors
    /// Fails if the length is not from 1 to 1024.
    pub fn with_salt_length(self, length: i64) -> Result<Self, KeyError> {
        let salt_length = valid_length(length)
            .ok_or_else(|| KeyError::argument(format!("salt_length must be from 1 to {MAXIMUM_LENGTH}")))?;
        Ok(Self { salt_length, ..self })
    }

    /// Sets the hash function.
    #[must_use]
    pub fn with_hash_function(self, hash_function: HashFunction) -> Self {
        Self { hash_function, ..self }
    }

    /// Creates a derivation with a random salt.
    pub(crate) fn derivation(&self) -> Result<Derivation, EncryptionError> {
        let mut salt = vec![0; self.salt_length];
        rand::fill(&mut salt).map_err(|_| {
            EncryptionError::new(
                "Unable to fetch encryption key data",
                "The operating system provides no random numbers for a salt.",
            )
        })?;
        Ok(Derivation {
            salt: BASE64_STANDARD.encode(salt),
            iterations: self.iterations.get(),
            hash_function: self.hash_function,
            key_length: self.key_length,
        })
    }
}

fn valid_length(length: i64) -> Option<usize> {
    usize::try_from(length).ok().filter(|length| (1..=MAXIMUM_LENGTH).contains(length))
}

impl Derivation {
    /// Derives the key. Returns `None` for parameters out of range, which a damaged file may have.
    pub(crate) fn key(&self, secret: &[u8]) -> Option<Vec<u8>> {
        let salt = BASE64_STANDARD.decode(&self.salt).ok().filter(|salt| !salt.is_empty())?;
        let iterations = NonZeroU32::new(self.iterations).filter(|number| number.get() <= MAXIMUM_ITERATIONS)?;
        // The length comes from the file, and a huge one would exhaust memory.
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
    fn derivation_matches_the_test_vector() {
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
    fn insecure_settings_are_rejected() {
        let provider = Pbkdf2::default;
        assert!(provider().with_iterations(199_999).is_err());
        assert!(provider().with_iterations(-1).is_err());
        assert!(provider().with_iterations(200_000).is_ok());
        assert!(provider().with_key_length(0).is_err());
        assert!(provider().with_salt_length(0).is_err());
    }

    #[test]
    fn damaged_derivation_parameters_yield_no_key() {
        let sound = Pbkdf2::default().derivation().unwrap();
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
