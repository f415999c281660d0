//! Detached OpenPGP signatures (RFC 9580, RFC 4880), with which registries sign lists of checksums.
//!
//! The crate `pgp` does the parsing and the arithmetic. This module decides which hashes, key sizes and subkeys are
//! accepted, and what a revocation means.
//!
//! For auditors: [`PublicKey::parse`] drops every subkey without a valid binding in both directions, and refuses a
//! revoked primary key. [`PublicKey::verify`] accepts signatures over binary documents only, made with SHA-256, SHA-384
//! or SHA-512. Expiry dates are not checked, so releases stay installable after the key that signed them has expired. OpenTofu accepts
//! expired keys by default, too.

use std::io::Read;

use pgp::armor::Dearmor;
use pgp::composed::{Deserializable, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Signature, SignatureType};
use pgp::ser::Serialize;
use pgp::types::{KeyDetails, PublicParams, VerifyingKey};
use rsa::traits::PublicKeyParts;

/// The fingerprint of the key that HashiCorp signs its releases with.
const HASHICORP: &str = "c874011f0ab405110d02105534365d9472d7468f";

/// The key with which HashiCorp signs the keys of its partners, as OpenTofu 1.6 and Terraform 1.5 have it.
const HASHICORP_PARTNERS: &str = include_str!("../../data/hashicorp-partners.asc");

/// The minimum size of an accepted RSA modulus in bits. Some generators make keys of one bit less than requested.
const MIN_RSA_BITS: usize = 2047;

/// A public key: the primary key, and the subkeys that belong to it.
#[derive(Clone, Debug)]
pub struct PublicKey {
    key: SignedPublicKey,
}

impl PublicKey {
    /// Parses an ASCII-armored key. Of several keys the first one counts.
    ///
    /// # Errors
    /// The text is not a key, or the key has been revoked.
    pub fn parse(armored: &str) -> Result<Self, SignatureError> {
        let (mut key, _) = SignedPublicKey::from_string(armored).map_err(|_| SignatureError::Malformed)?;
        let primary = &key.primary_key;
        // Only a revocation by the key itself is valid: anyone can append one to a public key.
        if key.details.revocation_signatures.iter().any(|revocation| revocation.verify_key(primary).is_ok()) {
            return Err(SignatureError::Revoked);
        }
        // Dropped here, so that nothing later can use them by mistake.
        key.public_subkeys.retain(|subkey| belongs_to(subkey, primary));
        Ok(Self { key })
    }

    /// Returns the key with which HashiCorp signs the keys of its partners.
    ///
    /// # Errors
    /// The key in this program is damaged.
    pub fn hashicorp_partners() -> Result<Self, SignatureError> {
        Self::parse(HASHICORP_PARTNERS)
    }

    /// Verifies a trust signature: one that this key made over another key, given in ASCII armor.
    ///
    /// # Errors
    /// `key` is not armored, or `signature` has no signature that this key made over it.
    pub fn verify_trust(&self, key: &str, signature: &str) -> Result<(), SignatureError> {
        let mut bytes = Vec::new();
        // The signature covers the packets of the key, not their armor.
        Dearmor::new(key.as_bytes()).read_to_end(&mut bytes).map_err(|_| SignatureError::Malformed)?;
        self.verify(&bytes, signature.as_bytes())
    }

    /// Whether this is HashiCorp's key. The fingerprint is a hash of the key itself, so no other key has it.
    pub fn is_hashicorp(&self) -> bool {
        self.fingerprint() == HASHICORP
    }

    /// Returns the fingerprint of the primary key, in lower-case hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        self.key.primary_key.fingerprint().to_string().to_lowercase()
    }

    /// Returns the identifier of the primary key: 16 hexadecimal digits, in capitals.
    pub fn id(&self) -> String {
        self.key.primary_key.legacy_key_id().to_string().to_uppercase()
    }

    /// Verifies a detached signature over `content`, in binary or armored form. Of several signatures one has to be
    /// valid.
    ///
    /// # Errors
    /// `signature` has no signature that this key or one of its subkeys made over this content.
    pub fn verify(&self, content: &[u8], signature: &[u8]) -> Result<(), SignatureError> {
        // The last reason is reported; files with several signatures are rare.
        let mut problem = SignatureError::Malformed;
        for signature in signatures(signature)? {
            match self.verify_one(content, &signature) {
                Ok(()) => return Ok(()),
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }

    fn verify_one(&self, content: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        if signature.typ() != Some(SignatureType::Binary) {
            return Err(SignatureError::Unsupported("it is not a signature of a file".to_owned()));
        }
        if !has_strong_hash(signature) {
            let supported = "its hash algorithm is not SHA-256, SHA-384 or SHA-512";
            return Err(SignatureError::Unsupported(supported.to_owned()));
        }
        let mut problem = SignatureError::OtherKey;
        if names_issuer(signature, &self.key.primary_key) {
            match verify_with(&self.key.primary_key, signature, content) {
                Ok(()) => return Ok(()),
                Err(error) => problem = error,
            }
        }
        for subkey in self.key.public_subkeys.iter().filter(|subkey| names_issuer(signature, &subkey.key)) {
            match verify_with(&subkey.key, signature, content) {
                Ok(()) => return Ok(()),
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }
}

fn verify_with<K: VerifyingKey>(key: &K, signature: &Signature, content: &[u8]) -> Result<(), SignatureError> {
    if is_weak(key) {
        return Err(SignatureError::Unsupported(
            "its key is a DSA key or an RSA key of fewer than 2048 bits".to_owned(),
        ));
    }
    signature.verify(key, content).map_err(|_| SignatureError::Wrong)
}

/// Returns the signatures in a file that is either binary or armored.
fn signatures(bytes: &[u8]) -> Result<Vec<Signature>, SignatureError> {
    // A binary signature is no text, or text without armor; it fails here and is parsed as bytes.
    let armored = std::str::from_utf8(bytes).ok().map(DetachedSignature::from_string_many);
    let parsed = match armored {
        Some(Ok((parsed, _))) => parsed,
        Some(Err(_)) | None => DetachedSignature::from_bytes_many(bytes).map_err(|_| SignatureError::Malformed)?,
    };
    // A truncated file has a broken last packet, which invalidates the whole file.
    parsed.map(|one| Ok(one.map_err(|_| SignatureError::Malformed)?.signature)).collect()
}

/// Whether a subkey is bound to the primary key and not revoked. The binding must hold in both directions; otherwise
/// anyone could adopt a foreign signing key as a subkey.
fn belongs_to(subkey: &SignedPublicSubKey, primary: &pgp::packet::PublicKey) -> bool {
    let is_of = |signature: &&Signature, kind| signature.typ() == Some(kind);
    let is_bound = subkey.signatures.iter().filter(|one| is_of(one, SignatureType::SubkeyBinding)).any(|binding| {
        let confirmation = binding.embedded_signature().filter(|one| is_of(one, SignatureType::KeyBinding));
        has_strong_hash(binding)
            && binding.verify_subkey_binding(primary, &subkey.key).is_ok()
            && confirmation
                .is_some_and(|one| has_strong_hash(one) && one.verify_primary_key_binding(&subkey.key, primary).is_ok())
    });
    // Owners of old keys revoked them with SHA-1. A forged revocation only causes distrust.
    let mut revocations = subkey.signatures.iter().filter(|one| is_of(one, SignatureType::SubkeyRevocation));
    is_bound && !revocations.any(|revocation| revocation.verify_subkey_binding(primary, &subkey.key).is_ok())
}

fn has_strong_hash(signature: &Signature) -> bool {
    matches!(signature.hash_alg(), Some(HashAlgorithm::Sha256 | HashAlgorithm::Sha384 | HashAlgorithm::Sha512))
}

/// Whether a signature may have been made with a key: it names that key, or none.
fn names_issuer<K: KeyDetails + Serialize>(signature: &Signature, key: &K) -> bool {
    let (ids, fingerprints) = (signature.issuer_key_id(), signature.issuer_fingerprint());
    (ids.is_empty() && fingerprints.is_empty())
        || ids.contains(&&key.legacy_key_id())
        || fingerprints.contains(&&key.fingerprint())
}

fn is_weak<K: KeyDetails>(key: &K) -> bool {
    match key.public_params() {
        PublicParams::RSA(parameters) => parameters.key.n().bits() < MIN_RSA_BITS,
        // DSA is obsolete, and its keys usually have 1024 bits.
        PublicParams::DSA(_) => true,
        _ => false,
    }
}

/// The reason why a signature is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The bytes are not a signature, or not a key.
    #[error("it is not in the OpenPGP format")]
    Malformed,
    /// Its algorithm or kind is not accepted.
    #[error("it cannot be checked: {0}")]
    Unsupported(String),
    /// The signature was made with another key.
    #[error("it was made with another key")]
    OtherKey,
    /// The signature does not match the content.
    #[error("it does not match the signed file")]
    Wrong,
    /// The owner has revoked the key.
    #[error("its key has been revoked")]
    Revoked,
}
