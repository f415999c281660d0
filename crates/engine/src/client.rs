//! The client information in every request to a provider.

use groma_provider::ClientCapabilities;
use groma_value::{Type, Value};

/// Returns the capabilities that this engine announces to providers.
pub fn capabilities() -> ClientCapabilities {
    ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true }
}

/// Returns the `provider_meta` value of a module without such a block.
pub fn no_meta() -> Value {
    Value::null(Type::Dynamic)
}
