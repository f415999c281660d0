//! From the messages of the protocol to the types of `groma-provider` and back.
//!
//! Everything is written once, for both versions: their messages are the same but for the schemas ([`schema`] reads
//! both). What a peer may get wrong is an error with a text for people, never a panic.

mod diagnostics;
mod function;
mod misc;
mod schema;
mod schema_message;
mod value;

pub use diagnostics::{diagnostics, diagnostics_message, path, path_message};
pub use function::{function, function_error, function_error_message, function_message};
pub use misc::{
    capabilities_message, client_capabilities, deferred, deferred_message, private, private_bytes, server_capabilities,
    server_capabilities_message, time, time_message,
};
pub use schema::{identity_schema, schema_of};
pub use schema_message::{identity_schema_message, schema_message, schema_message_v5};
pub use value::{decode, decode_identity, encode, encode_identity, raw_json, raw_state};

/// Why a message cannot be understood: a clause for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WireError(pub String);

impl WireError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The same, with where it is in front.
    #[must_use]
    pub(crate) fn within(self, place: &str) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}
