//! What every request to a provider says of this engine.

use groma_provider::ClientCapabilities;
use groma_value::{Type, Value};

use crate::options::Deferral;

/// What this engine can handle of a provider's answers.
pub fn capabilities() -> ClientCapabilities {
    ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true }
}

/// The same in plans that may leave something to a later run, or not.
pub fn planning_capabilities(deferral: Deferral) -> ClientCapabilities {
    ClientCapabilities { deferral_allowed: deferral == Deferral::Allowed, ..capabilities() }
}

/// No `provider_meta` values.
pub fn no_meta() -> Value {
    Value::null(Type::Dynamic)
}
