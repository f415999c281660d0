//! The document of `show -json` for a plan.

use std::collections::{BTreeMap, HashMap};

use groma_address::{Name, ProviderConfig, ResourceInstance};
use groma_config::Configuration;
use groma_engine::invocation::{Cause, Invocation};
use groma_engine::plan::Source;
use groma_engine::{Action, DeferredChange, OutputChange, Plan, ResourceChange};
use groma_state::DeposedKey;
use groma_value::Value;
use serde_json::{Map, Value as Json, json};

use super::configuration::configuration_json;
use super::path::{path_json, relevant_attributes_json};
use super::schemas::Schemas;
use crate::settings::TERRAFORM_VERSION;
use crate::views::json::{importing_json, sensitive_json, told_drift, type_json, unknown_json, value_json};
use crate::views::state::{StoredObject, address_json, checks_json, modules_json, state_json};

/// The document; `prior` are the decoded objects of the plan's prior state, `schemas` those of the types that the
/// configuration has.
pub fn plan_json(plan: &Plan, prior: &[StoredObject], configuration: &Configuration, schemas: &Schemas) -> Json {
    let mut document = Map::new();
    document.insert("format_version".into(), "1.2".into());
    document.insert("terraform_version".into(), TERRAFORM_VERSION.into());
    let variables = variables_json(plan, configuration);
    if !variables.is_empty() {
        document.insert("variables".into(), Json::Object(variables));
    }
    let identified = Identified::among(prior, &plan.drift);
    document.insert("planned_values".into(), planned_values(plan));
    // What changed outside is told without identities.
    let drift: Vec<Json> = told_drift(plan).map(|change| change_json(change, None)).collect();
    if !drift.is_empty() {
        document.insert("resource_drift".into(), Json::Array(drift));
    }
    if !plan.changes.is_empty() {
        let changes = plan.changes.iter().map(|change| change_json(change, Some(&identified))).collect();
        document.insert("resource_changes".into(), changes);
    }
    if !plan.deferred.is_empty() {
        let deferred = plan.deferred.iter().map(|deferred| deferred_json(deferred, &identified)).collect();
        document.insert("deferred_changes".into(), deferred);
    }
    if !plan.outputs.is_empty() {
        let outputs = plan.outputs.iter().map(|output| (output.name.to_string(), output_json(output)));
        document.insert("output_changes".into(), Json::Object(outputs.collect()));
    }
    if !plan.invocations.is_empty() {
        document.insert("action_invocations".into(), plan.invocations.iter().map(invocation_json).collect());
    }
    if !plan.deferred_invocations.is_empty() {
        let deferred = plan.deferred_invocations.iter().map(|deferred| {
            json!({ "reason": deferred.reason.name(), "action_invocation": invocation_json(&deferred.invocation) })
        });
        document.insert("deferred_action_invocations".into(), deferred.collect());
    }
    document.extend(prior_state_json(plan, prior).map(|state| ("prior_state".into(), state)));
    document.insert("configuration".into(), configuration_json(configuration, schemas));
    if !plan.relevant_attributes.is_empty() {
        document.insert("relevant_attributes".into(), relevant_attributes_json(&plan.relevant_attributes));
    }
    if !plan.checks.is_empty() {
        document.insert("checks".into(), checks_json(&plan.checks));
    }
    document.insert("timestamp".into(), plan.timestamp.as_str().into());
    document.insert("applyable".into(), plan.is_applyable().into());
    document.insert("complete".into(), plan.is_complete().into());
    document.insert("errored".into(), plan.errored.into());
    Json::Object(document)
}

/// The values of the root module's variables. Those of ephemeral ones are nowhere; their defaults are in the configuration.
fn variables_json(plan: &Plan, configuration: &Configuration) -> Map<String, Json> {
    let planned = plan.variables.iter().map(|variable| (&variable.name, &variable.value));
    let ephemeral = configuration.root.variables.values().filter(|variable| variable.ephemeral);
    let defaults = ephemeral.filter_map(|variable| Some((&variable.name, variable.default.as_ref()?)));
    let values: BTreeMap<&Name, &Value> = defaults.chain(planned).collect();
    values.into_iter().map(|(name, value)| (name.to_string(), json!({ "value": value_json(value) }))).collect()
}

/// Which object of an instance.
type Which<'o> = (&'o ResourceInstance, Option<&'o DeposedKey>);

/// The objects that have an identity: those of a prior state, and those that are gone since.
struct Identified<'o> {
    there: HashMap<Which<'o>, &'o StoredObject>,
    gone: HashMap<Which<'o>, &'o ResourceChange>,
}

impl<'o> Identified<'o> {
    fn among(prior: &'o [StoredObject], drift: &'o [ResourceChange]) -> Self {
        let there = prior.iter().filter(|object| object.identity.is_some());
        let gone = drift.iter().filter(|change| change.action == Action::Delete);
        Self {
            there: there.map(|object| ((&object.address, object.deposed.as_ref()), object)).collect(),
            gone: gone.map(|change| ((&change.address, change.deposed.as_ref()), change)).collect(),
        }
    }

    /// The identity of the object that a change is about, unless it is just let go of, or tainted and replaced.
    fn before(&self, change: &ResourceChange) -> Option<Json> {
        let which = (&change.address, change.deposed.as_ref());
        if let Some(gone) = self.gone.get(&which) {
            return planned_identity(gone);
        }
        let object = self.there.get(&which)?;
        let is_made_anew = object.tainted && change.action != Action::Delete;
        object.identity_json().filter(|_| change.action != Action::Forget && !is_made_anew)
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

/// The prior state, unless it is empty; outputs whose new value is known already have it, as after a refresh.
fn prior_state_json(plan: &Plan, prior: &[StoredObject]) -> Option<Json> {
    let mut json = state_json(&plan.prior_state, prior);
    let document = json.as_object_mut()?;
    document.remove("checks");
    let known = plan.outputs.iter().filter(|output| output.action != Action::Delete && output.after.is_wholly_known());
    // What becomes null is not kept.
    let (absent, known): (Vec<_>, Vec<_>) = known.partition(|output| output.after.is_null());
    let known: Vec<(String, Json)> = known
        .into_iter()
        .map(|output| {
            let value = json!({
                "sensitive": output.after.marks().is_sensitive(), "value": value_json(&output.after), "type": type_json(&output.after.ty()),
            });
            (output.name.to_string(), value)
        })
        .collect();
    if prior.is_empty() && known.is_empty() && plan.prior_state.outputs.is_empty() {
        return None;
    }
    let values = document.entry("values").or_insert_with(|| Json::Object(Map::new()));
    if let Some(values) = values.as_object_mut().filter(|_| !known.is_empty() || !absent.is_empty()) {
        let mut all: BTreeMap<String, Json> = match values.remove("outputs") {
            Some(Json::Object(outputs)) => outputs.into_iter().collect(),
            _ => BTreeMap::new(),
        };
        all.extend(known);
        all.retain(|name, _| !absent.iter().any(|output| *output.name == **name));
        if !all.is_empty() {
            values.shift_insert(0, "outputs".into(), Json::Object(all.into_iter().collect()));
        }
    }
    Some(json)
}

fn planned_values(plan: &Plan) -> Json {
    let mut values = Map::new();
    let outputs: Map<String, Json> =
        plan.outputs.iter().filter(|output| output.action != Action::Delete).map(planned_output).collect();
    if !outputs.is_empty() {
        values.insert("outputs".into(), Json::Object(outputs));
    }
    let planned = plan
        .changes
        .iter()
        .filter(|change| (!change.after.is_null() || change.action == Action::Forget) && change.deposed.is_none());
    let mut planned: Vec<(String, &ResourceChange)> =
        planned.map(|change| (change.address.to_string(), change)).collect();
    // As texts, unlike the resources of a state.
    planned.sort_by(|(one, _), (other, _)| one.cmp(other));
    let resources = planned.iter().map(|(_, change)| (&change.address.module, planned_object(change)));
    values.insert("root_module".into(), modules_json(resources));
    Json::Object(values)
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
        // Of an object of which nothing is known there are none.
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

/// A change, with the identities that are known of its object, unless it is told without.
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

/// A change that is left to a later run. What stands for many instances has `*` in the place of their keys.
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

/// The identity that is planned, where it is known already.
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
    json.insert("before_sensitive".into(), output.sensitive.into());
    json.insert("after_sensitive".into(), output.sensitive.into());
    Json::Object(json)
}
