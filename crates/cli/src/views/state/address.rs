//! Addresses and decoded objects in JSON documents of states and plans.

use std::sync::Arc;

use groma_address::{Mode, ProviderConfig, ResourceInstance};
use groma_provider::Schema;
use groma_state::{DeposedKey, Identity};
use groma_value::Value;
use serde_json::{Map, Value as Json};

use crate::views::json::key_json;

/// Returns the fields that identify an instance.
pub(crate) fn address_json(address: &ResourceInstance, provider: &ProviderConfig) -> Map<String, Json> {
    let resource = &address.resource;
    let mut json = Map::new();
    json.insert("address".into(), address.to_string().into());
    json.insert("mode".into(), mode_word(resource.mode).into());
    json.insert("type".into(), resource.type_name.to_string().into());
    json.insert("name".into(), resource.name.to_string().into());
    if let Some(key) = key_json(&address.key) {
        json.insert("index".into(), key);
    }
    json.insert("provider_name".into(), provider.provider.to_string().into());
    json
}

/// Returns the name of a resource mode.
pub(crate) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Managed => "managed",
        Mode::Data => "data",
        Mode::Ephemeral => "ephemeral",
        Mode::List => "list",
    }
}

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
