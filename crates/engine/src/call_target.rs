//! The subject of a provider call, and the client information in every request.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::Span;
use groma_provider::{BodyDecoder, Checked, ClientCapabilities, Schema, Subject};
use groma_state::DeposedKey;
use groma_value::{Type, Value};

/// The subject of a provider call: the object, its schema and block, and the provider to call.
pub(crate) struct CallTarget {
    pub(crate) address: ResourceInstance,
    /// Set for a deposed object of the instance.
    pub(crate) deposed: Option<DeposedKey>,
    /// The configured provider.
    pub(crate) provider: Arc<Checked>,
    /// The schema of the resource type.
    pub(crate) schema: Arc<Schema>,
    /// The body of its block; `None` for an object without a block.
    pub(crate) body: Option<Arc<BodyDecoder>>,
    /// The location for diagnostics about the arguments as a whole.
    pub(crate) span: Span,
    /// The module's `provider_meta` value; null without such a block.
    pub(crate) meta: Value,
}

impl CallTarget {
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject { address: &self.address, schema: &self.schema, body: self.body.as_deref(), span: self.span }
    }
}

/// Returns the capabilities that this engine announces to providers.
pub fn capabilities() -> ClientCapabilities {
    ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true }
}

/// Returns the `provider_meta` value of a module without such a block.
pub fn no_meta() -> Value {
    Value::null(Type::Dynamic)
}
