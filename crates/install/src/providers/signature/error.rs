//! The errors of verifying signatures.

/// The reason why a signature is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The bytes are not a signature, or not a key.
    #[error("it is not in the OpenPGP format")]
    Malformed,
    /// Its algorithm or kind is not accepted.
    #[error("it cannot be checked: {0}")]
    Unsupported(String),
    /// It was made with another key.
    #[error("it was made with another key")]
    OtherKey,
    /// The signature does not match the content.
    #[error("it does not match the signed file")]
    Wrong,
    /// The owner has revoked the key.
    #[error("its key has been revoked")]
    Revoked,
}
