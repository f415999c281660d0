//! A state for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use groma_address::{InstanceKey, Mode, ModuleInstance, ProviderConfig, ResourceInstance};
use groma_provider::Schema;
use groma_state::{CheckResult, CheckStatus, DeposedKey, Identity, OutputValue, State};
use groma_value::Value;
use serde_json::{Map, Value as Json, json};

use super::difference::{Manner, Paths, Relevance, Writer, compare_objects, compare_unchanged};
use super::json::{sensitive_json, type_json, value_json};
use super::secrecy::Secrecy;
use crate::terminal::Palette;

/// One object of a state, decoded.
#[derive(Clone, Debug)]
pub struct StoredObject {
    /// The instance it belongs to.
    pub address: ResourceInstance,
    /// Which deposed object of it, if it is one.
    pub deposed: Option<DeposedKey>,
    /// Whether it must be replaced.
    pub tainted: bool,
    /// What manages it.
    pub provider: ProviderConfig,
    /// The schema of its type.
    pub schema: Arc<Schema>,
    /// Its attributes; sensitive ones are marked.
    pub value: Value,
    /// Addresses of what it depends on.
    pub depends_on: Vec<String>,
    /// How its provider tells it from all others, if it does.
    pub identity: Option<Arc<Identity>>,
}

impl StoredObject {
    /// Its identity as documents show it; none where its record has only a version, or what is not JSON.
    pub(crate) fn identity_json(&self) -> Option<Json> {
        serde_json::from_str(self.identity.as_ref()?.json.as_ref()?.as_str()).ok()
    }
}

/// How objects are shown that nothing happens to.
const QUIET: Manner = Manner {
    hides_null: false,
    forces_replacement: false,
    shows_unchanged: true,
    hides_symbols: true,
    signs_zero: true,
};

/// Appends one object as a block.
pub fn write_object(object: &StoredObject, palette: Palette, secrecy: Secrecy, out: &mut String) {
    let resource = &object.address.resource;
    let _ = match (&object.deposed, object.tainted) {
        (Some(key), _) => writeln!(out, "# {}: (deposed object {key})", object.address),
        (None, true) => writeln!(out, "# {}: (tainted)", object.address),
        (None, false) => writeln!(out, "# {}:", object.address),
    };
    let keyword = if resource.mode == Mode::Managed { "resource" } else { "data" };
    let _ = write!(out, "{keyword} {:?} {:?} ", &*resource.type_name, &*resource.name);
    let value = secrecy.of(&object.value);
    let difference = compare_objects(&object.schema.block, &value, &value, Paths::default(), Relevance::All);
    Writer::new(palette, out).difference(&difference, 0, QUIET);
    out.push('\n');
}

/// The whole state: its objects, module by module with what each calls right after it, and its outputs.
pub fn state_text(state: &State, objects: &[StoredObject], palette: Palette, secrecy: Secrecy) -> String {
    let mut out = String::new();
    let mut previous: Option<&ModuleInstance> = None;
    let mut in_tree: Vec<&StoredObject> = objects.iter().collect();
    in_tree.sort_by(|a, b| a.address.module.steps().cmp(b.address.module.steps()));
    for object in in_tree {
        let module = &object.address.module;
        match previous {
            None => {}
            Some(previous) if previous == module => out.push('\n'),
            Some(_) => out.push_str("\n\n"),
        }
        previous = Some(module);
        write_object(object, palette, secrecy, &mut out);
    }
    if !state.outputs.is_empty() {
        out.push_str("\n\nOutputs:\n\n");
        for (name, output) in &state.outputs {
            let value = if output.sensitive { secrecy.of_secret(&output.value) } else { secrecy.of(&output.value) };
            let _ = write!(out, "{name} = ");
            Writer::new(palette, &mut out).difference(&compare_unchanged(&value, &output.ty), 0, QUIET);
            out.push('\n');
        }
    }
    out
}

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

/// The fields that name an instance in state and plan documents.
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

/// The word for a mode.
pub(crate) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Managed => "managed",
        Mode::Data => "data",
        Mode::Ephemeral => "ephemeral",
        Mode::List => "list",
    }
}

/// The key of an instance, if it has one.
pub(crate) fn key_json(key: &InstanceKey) -> Option<Json> {
    match key {
        InstanceKey::None => None,
        InstanceKey::Int(index) => Some((*index).into()),
        InstanceKey::String(name) => Some(name.to_string().into()),
    }
}

/// Resources in the tree of their modules; they come sorted by module.
pub(crate) fn modules_json<'o>(resources: impl Iterator<Item = (&'o ModuleInstance, Json)>) -> Json {
    let mut root = ModuleTree::default();
    for (module, json) in resources {
        let mut place = &mut root;
        for depth in 1..=module.steps().len() {
            place = place.children.entry(prefix(module, depth)).or_default();
        }
        place.resources.push(json);
    }
    root.json(None)
}

fn prefix(module: &ModuleInstance, depth: usize) -> String {
    let mut prefix = ModuleInstance::root();
    for step in module.steps().iter().take(depth) {
        prefix = prefix.child(step.name.clone(), step.key.clone());
    }
    prefix.to_string()
}

#[derive(Default)]
struct ModuleTree {
    resources: Vec<Json>,
    /// By their addresses as texts: 10 comes before 2.
    children: BTreeMap<String, ModuleTree>,
}

impl ModuleTree {
    fn json(self, address: Option<String>) -> Json {
        let mut json = Map::new();
        if !self.resources.is_empty() {
            json.insert("resources".into(), Json::Array(self.resources));
        }
        if let Some(address) = address {
            json.insert("address".into(), address.into());
        }
        if !self.children.is_empty() {
            let children = self.children.into_iter().map(|(address, child)| child.json(Some(address)));
            json.insert("child_modules".into(), children.collect());
        }
        Json::Object(json)
    }
}

/// Results of conditions as documents list them.
pub(crate) fn checks_json(checks: &[CheckResult]) -> Json {
    let status = |status| match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
        CheckStatus::Unknown => "unknown",
    };
    let mut sorted: Vec<&CheckResult> = checks.iter().collect();
    sorted.sort_by(|a, b| a.config_addr.cmp(&b.config_addr));
    let checks = sorted.into_iter().map(|check| {
        let mut json = Map::new();
        json.insert("address".into(), checkable_json(&check.object_kind, &check.config_addr));
        json.insert("status".into(), status(check.status).into());
        let mut objects: Vec<_> = check.objects.iter().flatten().collect();
        objects.sort_by_cached_key(|object| object.object_addr.parse::<ResourceInstance>().ok());
        let instances: Vec<Json> = objects
            .into_iter()
            .map(|object| {
                let mut json = Map::new();
                json.insert("address".into(), instance_address_json(&check.object_kind, &object.object_addr));
                json.insert("status".into(), status(object.status).into());
                if !object.failure_messages.is_empty() {
                    let problems = object.failure_messages.iter().map(|message| json!({ "message": message }));
                    json.insert("problems".into(), problems.collect());
                }
                Json::Object(json)
            })
            .collect();
        if !instances.is_empty() {
            json.insert("instances".into(), Json::Array(instances));
        }
        Json::Object(json)
    });
    checks.collect()
}

fn checkable_json(kind: &str, address: &str) -> Json {
    let (module, own) = split_module(address);
    let mut json = Map::new();
    let kind_word = if kind == "output" { "output_value" } else { kind };
    json.insert("kind".into(), kind_word.into());
    match kind {
        "resource" => {
            let (mode, rest) = match own.split_once('.') {
                Some((mode @ ("data" | "ephemeral"), rest)) => (mode, rest),
                _ => ("managed", own),
            };
            let (type_name, name) = rest.split_once('.').unwrap_or((rest, ""));
            json.insert("mode".into(), mode.into());
            if let Some(module) = module {
                json.insert("module".into(), module.into());
            }
            json.insert("name".into(), name.into());
            json.insert("to_display".into(), address.into());
            json.insert("type".into(), type_name.into());
        }
        _ => {
            if let Some(module) = module {
                json.insert("module".into(), module.into());
            }
            json.insert("name".into(), own.split_once('.').map_or(own, |(_, name)| name).into());
            json.insert("to_display".into(), address.into());
        }
    }
    Json::Object(json)
}

/// The path of the module that an address without keys begins with, and what is left.
fn split_module(address: &str) -> (Option<&str>, &str) {
    let mut own = address;
    while let Some((_, rest)) = own.strip_prefix("module.").and_then(|rest| rest.split_once('.')) {
        own = rest;
    }
    let module = address.strip_suffix(own).and_then(|module| module.strip_suffix('.'));
    (module, own)
}

fn instance_address_json(kind: &str, address: &str) -> Json {
    let mut json = Map::new();
    if kind != "resource" {
        // The last two parts are the word of the kind and a name; a key may hold anything.
        if let Some((module, _)) = address.rsplit_once('.').and_then(|(rest, _)| rest.rsplit_once('.')) {
            json.insert("module".into(), module.into());
        }
    } else if let Ok(instance) = address.parse::<ResourceInstance>() {
        if let Some(key) = key_json(&instance.key) {
            json.insert("instance_key".into(), key);
        }
        if !instance.module.is_root() {
            json.insert("module".into(), instance.module.to_string().into());
        }
    }
    json.insert("to_display".into(), address.into());
    Json::Object(json)
}
