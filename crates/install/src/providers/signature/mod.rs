//! Detached OpenPGP signatures (RFC 4880) of version 4 with RSA keys: what registries sign lists of checksums with.
//!
//! The registry's rules ask for RSA keys, so other algorithms are told apart from wrong signatures and refused.

mod armor;
mod error;
mod key;
mod packet;

pub use error::SignatureError;
pub use key::PublicKey;

/// The fingerprint of the key that HashiCorp signs its releases with.
const HASHICORP: &str = "c874011f0ab405110d02105534365d9472d7468f";

impl PublicKey {
    /// Whether it is HashiCorp's: the fingerprint is a hash of the key itself, so nobody else can have it.
    pub fn is_hashicorp(&self) -> bool {
        self.fingerprint() == HASHICORP
    }
}
