//! Why a signature is not believed.

/// Why a signature does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// It is no signature, or no key.
    #[error("it is not in the OpenPGP format")]
    Malformed,
    /// It is of a kind that is not supported here.
    #[error("it cannot be checked: {0}")]
    Unsupported(String),
    /// Another key has made it.
    #[error("it was made with another key")]
    OtherKey,
    /// The key has made no such signature over this content.
    #[error("it does not fit what was signed")]
    Wrong,
    /// The owner has withdrawn the key.
    #[error("its key has been revoked")]
    Revoked,
}
