//! The JSON document of a plan.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use groma_address::{Name, ProviderConfig, ResourceInstance};
use groma_config::Configuration;
use groma_engine::plan::{Cause, Invocation, RelevantAttribute, Source};
use groma_engine::{Action, DeferredChange, OutputChange, Plan, ResourceChange};
use groma_provider::TERRAFORM_VERSION;
use groma_state::DeposedKey;
use groma_value::{Kind, Path, PathStep, Value};
use serde_json::{Map, Value as Json, json};

use super::body::Schemas;
use super::configuration::configuration_json;
use crate::views::json::{
    Streamed, compact, importing_json, reported_drift, sensitive_json, type_json, unknown_json, value_json,
};
use crate::views::state::{StoredObject, address_json, checks_json, document, modules_json, outputs_json};

/// Returns the document of `plan`, with the decoded objects of its prior state and the schemas of the types in `configuration`.
pub fn plan_json<'a>(
    plan: &'a Plan,
    prior: &'a [StoredObject],
    configuration: &Configuration,
    schemas: &Schemas,
) -> Streamed<'a> {
    let mut document: Vec<(String, Streamed<'a>)> = Vec::new();
    let mut insert = |name: &str, part: Streamed<'a>| document.push((name.to_owned(), part));
    insert("format_version", Json::from("1.2").into());
    insert("terraform_version", Json::from(TERRAFORM_VERSION).into());
    let variables = variables_json(plan, configuration);
    if !variables.is_empty() {
        insert("variables", Json::Object(variables).into());
    }
    insert("planned_values", planned_values(plan));
    add_changes(plan, prior, &mut insert);
    // Members are inserted in the order of Terraform, which readers compare byte by byte.
    if let Some(state) = prior_state_json(plan, prior) {
        insert("prior_state", state);
    }
    insert("configuration", configuration_json(configuration, schemas).into());
    if !plan.relevant_attributes.is_empty() {
        insert("relevant_attributes", relevant_attributes_json(&plan.relevant_attributes).into());
    }
    if !plan.checks.is_empty() {
        insert("checks", checks_json(&plan.checks).into());
    }
    insert("timestamp", Json::from(plan.timestamp.as_str()).into());
    insert("applyable", Json::from(plan.is_applyable()).into());
    insert("complete", Json::from(plan.is_complete()).into());
    insert("errored", Json::from(plan.errored).into());
    Streamed::Object(document)
}

/// Inserts the drift and all planned changes.
fn add_changes<'a>(plan: &'a Plan, prior: &'a [StoredObject], insert: &mut dyn FnMut(&str, Streamed<'a>)) {
    let identified = Rc::new(Identified::among(prior, &plan.drift));
    // As in Terraform, drift is described without identities.
    let drift: Vec<&ResourceChange> = reported_drift(plan).collect();
    if !drift.is_empty() {
        insert("resource_drift", Streamed::list(drift, |change| change_json(change, None)));
    }
    if !plan.changes.is_empty() {
        let identified = Rc::clone(&identified);
        let to_json = move |change: &ResourceChange| change_json(change, Some(&identified));
        insert("resource_changes", Streamed::list(plan.changes.iter().collect(), to_json));
    }
    if !plan.deferred.is_empty() {
        let to_json = move |deferred: &DeferredChange| deferred_json(deferred, &identified);
        insert("deferred_changes", Streamed::list(plan.deferred.iter().collect(), to_json));
    }
    if !plan.outputs.is_empty() {
        let outputs = plan.outputs.iter().map(|output| (output.name.to_string(), output_json(output)));
        insert("output_changes", Json::Object(outputs.collect()).into());
    }
    if !plan.invocations.is_empty() {
        let invocations: Json = plan.invocations.iter().map(invocation_json).collect();
        insert("action_invocations", invocations.into());
    }
    if !plan.deferred_invocations.is_empty() {
        let deferred = plan.deferred_invocations.iter().map(|deferred| {
            json!({ "reason": deferred.reason.name(), "action_invocation": invocation_json(&deferred.invocation) })
        });
        insert("deferred_action_invocations", deferred.collect::<Json>().into());
    }
}

/// Returns the values of the root module's variables. Plans do not store values of ephemeral variables, so these have their defaults.
fn variables_json(plan: &Plan, configuration: &Configuration) -> Map<String, Json> {
    let planned = plan.variables.iter().map(|variable| (&variable.name, &variable.value));
    let ephemeral = configuration.root.variables.values().filter(|variable| variable.ephemeral);
    let defaults = ephemeral.filter_map(|variable| Some((&variable.name, variable.default.as_ref()?)));
    let values: BTreeMap<&Name, &Value> = defaults.chain(planned).collect();
    values.into_iter().map(|(name, value)| (name.to_string(), json!({ "value": value_json(value) }))).collect()
}

/// Address of an object: its instance, and the key of a deposed object.
type ObjectKey<'o> = (&'o ResourceInstance, Option<&'o DeposedKey>);

/// Objects with an identity: those of the prior state, and those deleted outside.
struct Identified<'o> {
    existing: HashMap<ObjectKey<'o>, &'o StoredObject>,
    deleted: HashMap<ObjectKey<'o>, &'o ResourceChange>,
}

impl<'o> Identified<'o> {
    fn among(prior: &'o [StoredObject], drift: &'o [ResourceChange]) -> Self {
        let existing = prior.iter().filter(|object| object.identity.is_some());
        let deleted = drift.iter().filter(|change| change.action == Action::Delete);
        Self {
            existing: existing.map(|object| ((&object.address, object.deposed.as_ref()), object)).collect(),
            deleted: deleted.map(|change| ((&change.address, change.deposed.as_ref()), change)).collect(),
        }
    }

    /// Returns the identity of the changed object, except for forgotten objects and replaced tainted ones.
    fn before(&self, change: &ResourceChange) -> Option<Json> {
        let key = (&change.address, change.deposed.as_ref());
        if let Some(deleted) = self.deleted.get(&key) {
            return planned_identity(deleted);
        }
        let object = self.existing.get(&key)?;
        let is_recreated = object.tainted && change.action != Action::Delete;
        object.identity_json().filter(|_| change.action != Action::Forget && !is_recreated)
    }
}

fn invocation_json(invocation: &Invocation) -> Json {
    let action = &invocation.action;
    let mut json = Map::new();
    json.insert("address".into(), action.to_string().into());
    json.insert("type".into(), action.type_name.to_string().into());
    json.insert("name".into(), action.name.to_string().into());
    json.insert("config_values".into(), value_json(&invocation.config));
    json.insert("config_sensitive".into(), sensitive_json(&invocation.config));
    json.insert("config_unknown".into(), unknown_json(&invocation.config));
    json.insert("provider_name".into(), invocation.provider.provider.to_string().into());
    let (kind, trigger) = match &invocation.cause {
        Cause::Request => ("invoke_action_trigger", json!({})),
        Cause::Trigger { resource, event, block, entry } => (
            "lifecycle_action_trigger",
            json!({
                "triggering_resource_address": resource.to_string(),
                "action_trigger_event": event.name(),
                "action_trigger_block_index": block,
                "actions_list_index": entry,
            }),
        ),
    };
    json.insert(kind.into(), trigger);
    Json::Object(json)
}

/// Returns the prior state, unless it is empty. As after a refresh, outputs have their new value if it is known.
fn prior_state_json<'a>(plan: &Plan, prior: &'a [StoredObject]) -> Option<Streamed<'a>> {
    let mut outputs: BTreeMap<String, Json> = outputs_json(&plan.prior_state).collect();
    let had_outputs = !outputs.is_empty();
    let known = plan.outputs.iter().filter(|output| output.action != Action::Delete && output.after.is_wholly_known());
    for output in known {
        // An output that becomes null is removed from the state.
        if output.after.is_null() {
            outputs.remove(&*output.name);
            continue;
        }
        let value = json!({
            "sensitive": output.after.marks().is_sensitive(), "value": value_json(&output.after), "type": type_json(&output.after.ty()),
        });
        outputs.insert(output.name.to_string(), value);
    }
    if prior.is_empty() && outputs.is_empty() && !had_outputs {
        return None;
    }
    let outputs = outputs.into_iter().collect();
    Some(Streamed::Object(document(&plan.prior_state.terraform_version, outputs, prior)))
}

fn planned_values(plan: &Plan) -> Streamed<'_> {
    let mut values = Vec::new();
    let outputs: Map<String, Json> =
        plan.outputs.iter().filter(|output| output.action != Action::Delete).map(planned_output).collect();
    if !outputs.is_empty() {
        values.push(("outputs".to_owned(), Json::Object(outputs).into()));
    }
    let planned = plan
        .changes
        .iter()
        .filter(|change| (!change.after.is_null() || change.action == Action::Forget) && change.deposed.is_none());
    let mut planned: Vec<&ResourceChange> = planned.collect();
    // Terraform sorts planned values by address string, unlike the resources of a state.
    planned.sort_by_cached_key(|change| change.address.to_string());
    let resources = planned.into_iter().map(|change| (&change.address.module, change));
    values.push(("root_module".to_owned(), modules_json(resources, planned_object)));
    Streamed::Object(values)
}

fn planned_output(output: &OutputChange) -> (String, Json) {
    let mut json = Map::new();
    json.insert("sensitive".into(), output.sensitive.into());
    if output.after.is_wholly_known() {
        json.insert("type".into(), type_json(&output.after.ty()));
        json.insert("value".into(), value_json(&output.after));
    }
    (output.name.to_string(), Json::Object(json))
}

fn planned_object(change: &ResourceChange) -> Json {
    let mut json = address_json(&change.address, &change.provider);
    json.insert("schema_version".into(), change.schema.version.into());
    if !change.after.is_null() {
        let values = value_json(&change.after);
        // An object without known attributes has no `values`.
        if values.as_object().is_none_or(|values| !values.is_empty()) {
            json.insert("values".into(), values);
        }
    }
    json.insert("sensitive_values".into(), sensitive_json(&change.after));
    if let (Some(schema), Some(identity)) = (&change.schema.identity, planned_identity(change)) {
        json.insert("identity_schema_version".into(), schema.version.into());
        json.insert("identity".into(), identity);
    }
    Json::Object(json)
}

/// Returns the JSON of a change, with identities if `identified` is set.
fn change_json(change: &ResourceChange, identified: Option<&Identified<'_>>) -> Json {
    let mut json = Map::new();
    let fields = identify(&change.address, &change.provider);
    json.insert("address".into(), change.address.to_string().into());
    if let Some(previous) = change.previous_address.as_deref().filter(|previous| **previous != change.address) {
        json.insert("previous_address".into(), previous.to_string().into());
    }
    json.extend(fields);
    if let Some(key) = &change.deposed {
        json.insert("deposed".into(), key.to_string().into());
    }
    json.insert("change".into(), values_json(change, identified));
    if let Some(reason) = change.reason {
        json.insert("action_reason".into(), reason.name().into());
    }
    Json::Object(json)
}

/// Returns the JSON of a deferred change. An unknown instance key is written as `*`.
fn deferred_json(deferred: &DeferredChange, identified: &Identified<'_>) -> Json {
    let mut change = change_json(&deferred.change, Some(identified));
    if let Some(change) = change.as_object_mut() {
        if !deferred.open_steps.is_empty() {
            change.insert("address".into(), deferred.address().into());
            let module = deferred.module_address();
            if !module.is_empty() {
                change.insert("module_address".into(), module.into());
            }
        }
        if deferred.stands_for_many() {
            change.insert("index".into(), "*".into());
        }
        if let Some(values) = change.get_mut("change").and_then(Json::as_object_mut)
            && deferred.source == Source::Unknown
        {
            values.insert("importing".into(), json!({ "unknown": true }));
        }
    }
    json!({ "reason": deferred.reason.name(), "resource_change": change })
}

fn identify(address: &ResourceInstance, provider: &ProviderConfig) -> Map<String, Json> {
    let mut json = Map::new();
    if !address.module.is_root() {
        json.insert("module_address".into(), address.module.to_string().into());
    }
    json.extend(address_json(address, provider).into_iter().filter(|(name, _)| name != "address"));
    json
}

fn values_json(change: &ResourceChange, identified: Option<&Identified<'_>>) -> Json {
    let mut json = Map::new();
    json.insert("actions".into(), change.action.names().to_vec().into());
    json.insert("before".into(), value_json(&change.before));
    json.insert("after".into(), value_json(&change.after));
    // Terraform writes an empty object instead of the nested structure if everything is known.
    let unknown = if change.after.is_wholly_known() { Json::Object(Map::new()) } else { unknown_json(&change.after) };
    json.insert("after_unknown".into(), unknown);
    json.insert("before_sensitive".into(), sensitive_json(&change.before));
    json.insert("after_sensitive".into(), sensitive_json(&change.after));
    if !change.replace_paths.is_empty() {
        json.insert("replace_paths".into(), change.replace_paths.iter().map(path_json).collect());
    }
    if let Some(importing) = &change.importing {
        json.insert("importing".into(), importing_json(importing));
        if let Some(text) = &importing.generated {
            json.insert("generated_config".into(), text.as_str().into());
        }
    }
    if let Some(identified) = identified {
        json.extend(identified.before(change).map(|identity| ("before_identity".to_owned(), identity)));
        json.extend(planned_identity(change).map(|identity| ("after_identity".to_owned(), identity)));
    }
    Json::Object(json)
}

/// Returns the planned identity, if it is known.
fn planned_identity(change: &ResourceChange) -> Option<Json> {
    let known = change.planned_identity.as_ref().filter(|identity| !identity.is_null() && identity.is_wholly_known());
    known.map(value_json)
}

fn output_json(output: &OutputChange) -> Json {
    let mut json = Map::new();
    json.insert("actions".into(), output.action.names().to_vec().into());
    json.insert("before".into(), value_json(&output.before));
    if output.after.is_known() {
        json.insert("after".into(), value_json(&output.after));
    }
    let unknown = if output.after.is_wholly_known() { Json::Bool(false) } else { unknown_json(&output.after) };
    json.insert("after_unknown".into(), unknown);
    // Outputs are sensitive as a whole, before and after the change.
    json.insert("before_sensitive".into(), output.sensitive.into());
    json.insert("after_sensitive".into(), output.sensitive.into());
    Json::Object(json)
}

/// Returns the relevant attributes without duplicates: `x.m.k` and `x.m["k"]` are different paths with the same JSON form.
pub(super) fn relevant_attributes_json(relevant: &[RelevantAttribute]) -> Json {
    let mut seen = BTreeSet::new();
    relevant.iter().map(relevant_json).filter(|json| seen.insert(json.to_string())).collect()
}

fn relevant_json(relevant: &RelevantAttribute) -> Json {
    let steps = relevant.path.steps();
    let (key, rest) = match steps.split_first() {
        Some((PathStep::Index(key), rest)) => (format!("[{}]", compact(&value_json(key))), rest),
        _ => (String::new(), steps),
    };
    json!({ "resource": format!("{}{key}", relevant.resource), "attribute": steps_json(rest) })
}

/// Returns the steps of a path.
pub(super) fn path_json(path: &Path) -> Json {
    steps_json(path.steps())
}

fn steps_json(steps: &[PathStep]) -> Json {
    let step = |step: &PathStep| match step {
        PathStep::Attribute(name) => Json::String(name.to_string()),
        PathStep::Index(key) => index_json(key),
    };
    steps.iter().map(step).collect()
}

fn index_json(key: &Value) -> Json {
    match key.kind() {
        Kind::Number(_) | Kind::String(_) => value_json(key),
        // Elements of a set have no key.
        _ => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relevant_attributes_are_unique() {
        let relevant = |path: Path| RelevantAttribute {
            resource: "acme_thing.a".parse().unwrap_or_else(|problem| panic!("{problem}")),
            path,
        };
        let map = || Path::root().attribute("m");
        let document =
            relevant_attributes_json(&[relevant(map().attribute("k")), relevant(map().index(Value::string("k")))]);
        assert_eq!(document, json!([{ "resource": "acme_thing.a", "attribute": ["m", "k"] }]));
    }
}
