//! A state for programs.

use groma_state::{OutputValue, State};
use serde_json::{Map, Value as Json};

use super::address::address_json;
use super::checks::checks_json;
use super::modules::modules_json;
use super::stored::StoredObject;
use crate::views::json::{sensitive_json, type_json, value_json};

/// The document of some objects of a state, without all else.
pub fn objects_json(terraform_version: &str, objects: &[StoredObject]) -> Json {
    let mut values = Map::new();
    values.insert("root_module".into(), root_json(objects));
    let mut document = head(terraform_version);
    document.insert("values".into(), Json::Object(values));
    Json::Object(document)
}

fn head(terraform_version: &str) -> Map<String, Json> {
    let mut document = Map::new();
    document.insert("format_version".into(), "1.0".into());
    document.insert("terraform_version".into(), terraform_version.into());
    document
}

fn root_json(objects: &[StoredObject]) -> Json {
    modules_json(objects.iter().map(|object| (&object.address.module, object_json(object))))
}

/// What documents say of an output beside its value.
pub fn told_of(output: &OutputValue) -> Map<String, Json> {
    let mut json = Map::new();
    json.insert("sensitive".into(), output.sensitive.into());
    if let Some(message) = &output.deprecated {
        json.insert("deprecated".into(), message.to_string().into());
    }
    json
}

/// The document of `show -json` for a state.
pub fn state_json(state: &State, objects: &[StoredObject]) -> Json {
    let mut document = head(&state.terraform_version);
    let outputs: Map<String, Json> = state
        .outputs
        .iter()
        .map(|(name, output)| {
            let mut json = told_of(output);
            json.insert("value".into(), value_json(&output.value));
            json.insert("type".into(), type_json(&output.ty));
            (name.to_string(), Json::Object(json))
        })
        .collect();
    let mut values = Map::new();
    if !outputs.is_empty() {
        values.insert("outputs".into(), Json::Object(outputs));
    }
    values.insert("root_module".into(), root_json(objects));
    document.insert("values".into(), Json::Object(values));
    if let Some(checks) = state.check_results.as_ref().filter(|checks| !checks.is_empty()) {
        document.insert("checks".into(), checks_json(checks));
    }
    Json::Object(document)
}

fn object_json(object: &StoredObject) -> Json {
    let mut json = address_json(&object.address, &object.provider);
    json.insert("schema_version".into(), object.schema.version.into());
    json.insert("values".into(), value_json(&object.value));
    json.insert("sensitive_values".into(), sensitive_json(&object.value));
    if !object.depends_on.is_empty() {
        json.insert("depends_on".into(), object.depends_on.clone().into());
    }
    if object.tainted {
        json.insert("tainted".into(), true.into());
    }
    if let Some(key) = &object.deposed {
        json.insert("deposed_key".into(), key.to_string().into());
    }
    add_identity(object, &mut json);
    Json::Object(json)
}

/// Adds the identity of `object`, if it has one, to what tells about it or about its successor.
fn add_identity(object: &StoredObject, json: &mut Map<String, Json>) {
    if let (Some(identity), Some(value)) = (&object.identity, object.identity_json()) {
        json.insert("identity_schema_version".into(), identity.schema_version.into());
        json.insert("identity".into(), value);
    }
}
