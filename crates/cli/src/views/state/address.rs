//! Addresses in JSON documents of states and plans.

use groma_address::{Mode, ProviderConfig, ResourceInstance};
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
