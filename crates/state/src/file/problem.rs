//! Reasons why parts of a state file cannot be used.

use groma_address::ParseError;
use thiserror::Error;

/// The reason why the entry of an instance is not an object. Follows the address of the instance; holds no values of
/// attributes.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum ObjectProblem {
    #[error("it has the status {0:?}; only \"tainted\" is known")]
    UnknownStatus(String),
    #[error("it has a deposed key that has not eight characters")]
    DeposedKey,
    #[error("its private data is not valid base64")]
    Private,
    #[error("its dependencies are not a list of addresses")]
    Dependencies,
    #[error("its dependencies contain {text:?}, which is not a valid resource address: {error}")]
    Dependency { text: String, error: ParseError },
    #[error(transparent)]
    Paths(#[from] PathsProblem),
}

/// The reason why a JSON document is not a list of sensitive paths.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum PathsProblem {
    #[error("its sensitive_attributes are not lists of path steps")]
    NoLists,
    #[error("a step in its sensitive_attributes has an attribute name that is not a string")]
    AttributeName,
    #[error("a step in its sensitive_attributes has an invalid index")]
    Index,
    #[error("its sensitive_attributes have a step of the unknown type {0:?}")]
    UnknownStep(String),
}

/// The reason why a JSON value is not an instance key. Follows "has an instance".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum KeyProblem {
    #[error("with a key that is not a valid string")]
    String,
    #[error("with a key that is neither a whole number nor a string")]
    Type,
}
