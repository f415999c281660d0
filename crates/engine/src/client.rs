//! What every request to a provider says of this engine.

use groma_provider::ClientCapabilities;
use groma_value::{Type, Value};

/// What this engine can handle of a provider's answers.
pub fn capabilities() -> ClientCapabilities {
    ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true }
}

/// No `provider_meta` values.
pub fn no_meta() -> Value {
    Value::null(Type::Dynamic)
}
