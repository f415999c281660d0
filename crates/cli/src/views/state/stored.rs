//! Decoded objects of a state.

use std::sync::Arc;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_provider::Schema;
use groma_state::{DeposedKey, Identity};
use groma_value::Value;
use serde_json::Value as Json;

/// An object of a state, decoded with the schema of its type.
#[derive(Clone, Debug)]
pub struct StoredObject {
    /// Address of the instance.
    pub address: ResourceInstance,
    /// Key of a deposed object.
    pub deposed: Option<DeposedKey>,
    /// Whether the next apply replaces the object.
    pub tainted: bool,
    /// Provider configuration that manages the object.
    pub provider: ProviderConfig,
    /// Schema of the resource type.
    pub schema: Arc<Schema>,
    /// Attributes; sensitive ones are marked.
    pub value: Value,
    /// Addresses of the recorded dependencies.
    pub depends_on: Vec<String>,
    /// Resource identity, if the provider supports it.
    pub identity: Option<Arc<Identity>>,
}

impl StoredObject {
    /// Returns the identity as JSON; `None` if the state has only its version, or invalid JSON.
    pub(crate) fn identity_json(&self) -> Option<Json> {
        serde_json::from_str(self.identity.as_ref()?.json.as_ref()?.as_str()).ok()
    }
}
