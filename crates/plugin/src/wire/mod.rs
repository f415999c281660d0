//! Conversion between protocol messages and the types of `groma-provider`.
//!
//! One implementation serves both versions, whose messages differ only in schemas ([`schema`] decodes both). Errors of
//! a peer become error values with messages for users, never panics.

mod diagnostics;
mod function;
mod schema;
mod value;

pub use diagnostics::{diagnostics, diagnostics_message, path, path_message};
pub use function::{function, function_error, function_error_message, function_message};
pub use schema::{identity_schema, identity_schema_message, schema_message, schema_message_v5, schema_of};
pub use value::{
    capabilities_message, client_capabilities, decode, decode_identity, deferred, deferred_message, encode,
    encode_identity, private, private_bytes, raw_json, raw_state, server_capabilities, server_capabilities_message,
    time, time_message,
};

/// The reason why a message cannot be decoded or encoded, as a clause for messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WireError(pub String);

impl WireError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Prefixes the error with its location.
    #[must_use]
    pub(crate) fn within(self, name: &str) -> Self {
        Self(format!("{name}: {}", self.0))
    }
}
