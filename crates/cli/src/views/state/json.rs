//! States as JSON documents: addresses, decoded objects and the module tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_address::{Mode, ModuleInstance, ProviderConfig, ResourceInstance};
use groma_provider::Schema;
use groma_state::{DeposedKey, Identity, OutputValue, State};
use groma_value::Value;
use serde_json::{Map, Value as Json};

use super::checks::checks_json;
use crate::views::json::{Streamed, key_json, sensitive_json, type_json, value_json};

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
    // Terraform leaves the member out without outputs, but always has the root module.
    if !outputs.is_empty() {
        values.push(("outputs".to_owned(), Json::Object(outputs).into()));
    }
    let objects = objects.iter().map(|object| (&object.address.module, object));
    values.push(("root_module".to_owned(), modules_json(objects, object_json)));
    vec![
        // The version of the document's format, not of the state file.
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

/// Returns the tree of modules with their resources, which must be sorted by module. `to_json` converts one resource.
pub(crate) fn modules_json<'o, T: 'o>(
    resources: impl Iterator<Item = (&'o ModuleInstance, &'o T)>,
    to_json: fn(&T) -> Json,
) -> Streamed<'o> {
    let mut root = ModuleTree::default();
    for (module, resource) in resources {
        let mut tree = &mut root;
        // Documents also contain the modules between the root and a module with resources.
        for depth in 1..=module.steps().len() {
            tree = tree.children.entry(prefix(module, depth)).or_default();
        }
        tree.resources.push(resource);
    }
    root.json(None, to_json)
}

fn prefix(module: &ModuleInstance, depth: usize) -> String {
    let mut prefix = ModuleInstance::root();
    for step in module.steps().iter().take(depth) {
        prefix = prefix.child(step.name.clone(), step.key.clone());
    }
    prefix.to_string()
}

struct ModuleTree<'o, T> {
    resources: Vec<&'o T>,
    /// Child modules by address string, so that index 10 precedes 2 as in Terraform.
    children: BTreeMap<String, ModuleTree<'o, T>>,
}

impl<T> Default for ModuleTree<'_, T> {
    fn default() -> Self {
        Self { resources: Vec::new(), children: BTreeMap::new() }
    }
}

impl<'o, T> ModuleTree<'o, T> {
    fn json(self, address: Option<String>, to_json: fn(&T) -> Json) -> Streamed<'o> {
        let mut json = Vec::new();
        if !self.resources.is_empty() {
            json.push(("resources".to_owned(), Streamed::list(self.resources, to_json)));
        }
        if let Some(address) = address {
            json.push(("address".to_owned(), Json::from(address).into()));
        }
        if !self.children.is_empty() {
            let children = self.children.into_iter().map(|(address, child)| child.json(Some(address), to_json));
            json.push(("child_modules".to_owned(), Streamed::Array(children.collect())));
        }
        Streamed::Object(json)
    }
}
