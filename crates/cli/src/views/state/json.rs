//! States as JSON documents.

use groma_state::{OutputValue, State};
use serde_json::{Map, Value as Json};

use super::address::StoredObject;
use super::address::address_json;
use super::checks::checks_json;
use super::modules::modules_json;
use crate::views::json::{Streamed, sensitive_json, type_json, value_json};

/// Returns a state document with only these objects.
pub fn objects_json<'o>(terraform_version: &str, objects: &'o [StoredObject]) -> Streamed<'o> {
    Streamed::Object(document(terraform_version, Map::new(), objects))
}

/// Returns the members of a state document with these outputs and objects.
pub(crate) fn document<'o>(
    terraform_version: &str,
    outputs: Map<String, Json>,
    objects: &'o [StoredObject],
) -> Vec<(String, Streamed<'o>)> {
    let mut values = Vec::new();
    if !outputs.is_empty() {
        values.push(("outputs".to_owned(), Json::Object(outputs).into()));
    }
    let objects = objects.iter().map(|object| (&object.address.module, object));
    values.push(("root_module".to_owned(), modules_json(objects, object_json)));
    vec![
        ("format_version".to_owned(), Json::from("1.0").into()),
        ("terraform_version".to_owned(), Json::from(terraform_version).into()),
        ("values".to_owned(), Streamed::Object(values)),
    ]
}

/// Returns the flags of an output, without its value.
pub fn output_flags_json(output: &OutputValue) -> Map<String, Json> {
    let mut json = Map::new();
    json.insert("sensitive".into(), output.sensitive.into());
    if let Some(message) = &output.deprecated {
        json.insert("deprecated".into(), message.to_string().into());
    }
    json
}

/// Returns the outputs of a state.
pub(crate) fn outputs_json(state: &State) -> impl Iterator<Item = (String, Json)> {
    state.outputs.iter().map(|(name, output)| {
        let mut json = output_flags_json(output);
        json.insert("value".into(), value_json(&output.value));
        json.insert("type".into(), type_json(&output.ty));
        (name.to_string(), Json::Object(json))
    })
}

/// Returns the document of `show -json` for a state.
pub fn state_json<'o>(state: &State, objects: &'o [StoredObject]) -> Streamed<'o> {
    let mut document = document(&state.terraform_version, outputs_json(state).collect(), objects);
    if let Some(checks) = state.check_results.as_ref().filter(|checks| !checks.is_empty()) {
        document.push(("checks".to_owned(), checks_json(checks).into()));
    }
    Streamed::Object(document)
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

/// Adds the identity of `object`, if it has one.
fn add_identity(object: &StoredObject, json: &mut Map<String, Json>) {
    if let (Some(identity), Some(value)) = (&object.identity, object.identity_json()) {
        json.insert("identity_schema_version".into(), identity.schema_version.into());
        json.insert("identity".into(), value);
    }
}
