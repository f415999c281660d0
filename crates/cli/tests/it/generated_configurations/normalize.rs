//! Parts of what came of a step are taken away, so that the rest can be compared.

use serde_json::{Map, Value as Json, json};

use super::life::Outcome;

/// A resource in a called module is taken off the list of what an object depends on.
pub fn without_dependencies_below(object: &mut Map<String, Json>, list: &str) {
    if let Some(Json::Array(dependencies)) = object.get_mut(list) {
        dependencies.retain(|one| !one.as_str().is_some_and(|text| text.starts_with("module.")));
        if dependencies.is_empty() {
            object.remove(list);
        }
    }
}

pub fn without_dependencies_anywhere(document: &mut Json) {
    match document {
        Json::Array(elements) => elements.iter_mut().for_each(without_dependencies_anywhere),
        Json::Object(object) => {
            without_dependencies_below(object, "depends_on");
            object.values_mut().for_each(without_dependencies_anywhere);
        }
        _ => {}
    }
}

pub fn without_any_dependencies(outcome: &mut Outcome) {
    outcome.plan.iter_mut().for_each(|document| without_members(document, &["depends_on"]));
    each_instance(outcome, |instance| drop(instance.remove("dependencies")));
}

pub fn without_deposed(outcome: &mut Outcome) {
    let resources = outcome.state.as_mut().and_then(|state| state["resources"].as_array_mut());
    for instances in resources.into_iter().flatten().filter_map(|resource| resource["instances"].as_array_mut()) {
        instances.retain(|instance| instance.get("deposed").is_none());
    }
}

pub fn without_empty_resources(outcome: &mut Outcome) {
    outcome.state.iter_mut().for_each(drop_empty_resources);
}

/// Where an apply fails, Terraform leaves resources in the state whose objects are gone.
pub fn drop_empty_resources(state: &mut Json) {
    if let Some(resources) = state["resources"].as_array_mut() {
        resources.retain(|resource| resource["instances"] != json!([]));
    }
}

pub fn without_secrecy(outcome: &mut Outcome) {
    each_instance(outcome, |instance| drop(instance.remove("sensitive_attributes")));
    outcome.plan.iter_mut().for_each(|document| without_members(document, &["after_sensitive", "sensitive_values"]));
}

pub fn without_members(document: &mut Json, names: &[&str]) {
    match document {
        Json::Array(elements) => elements.iter_mut().for_each(|element| without_members(element, names)),
        Json::Object(object) => {
            object.retain(|name, _| !names.contains(&name.as_str()));
            object.values_mut().for_each(|value| without_members(value, names));
        }
        _ => {}
    }
}

/// Removes data resources from the prior state in the plan.
pub fn without_prior_data(outcome: &mut Outcome) {
    let prior = outcome.plan.as_mut().and_then(|plan| plan.pointer_mut("/prior_state/values/root_module"));
    prior.into_iter().for_each(without_data_below);
}

/// Modules that have nothing but data go with it.
fn without_data_below(module: &mut Json) {
    if let Some(resources) = module.get_mut("resources").and_then(Json::as_array_mut) {
        resources.retain(|resource| resource["mode"] != "data");
    }
    if let Some(modules) = module.get_mut("child_modules").and_then(Json::as_array_mut) {
        modules.iter_mut().for_each(without_data_below);
        modules.retain(|module| module.as_object().is_some_and(|module| module.keys().any(|name| name != "address")));
    }
    if let Some(module) = module.as_object_mut() {
        module.retain(|name, value| !matches!(name.as_str(), "resources" | "child_modules") || *value != json!([]));
    }
}

/// Cuts off the text where the changes of outputs begin.
pub fn without_reported_outputs(outcome: &mut Outcome) {
    if let Some(at) = outcome.reported.find("Changes to Outputs:") {
        outcome.reported.truncate(at);
        outcome.reported.truncate(outcome.reported.trim_end().len());
    }
}

pub fn without_outputs(outcome: &mut Outcome) {
    without_reported_outputs(outcome);
    blank(&mut outcome.state, "/outputs");
    remove(&mut outcome.plan, "/planned_values", "outputs");
    // A state of which nothing but outputs is planned is there with them only.
    // So are the attributes that are relevant to them only.
    for name in ["output_changes", "prior_state", "relevant_attributes"] {
        outcome.plan.iter_mut().filter_map(Json::as_object_mut).for_each(|document| drop(document.remove(name)));
    }
}

pub fn each_instance(outcome: &mut Outcome, change: fn(&mut Map<String, Json>)) {
    let resources = outcome.state.as_mut().and_then(|state| state["resources"].as_array_mut());
    let instances = resources.into_iter().flatten().filter_map(|resource| resource["instances"].as_array_mut());
    instances.flatten().filter_map(Json::as_object_mut).for_each(change);
}

/// Sets the value at that path of a document to null.
pub fn blank(document: &mut Option<Json>, place: &str) {
    if let Some(part) = document.as_mut().and_then(|document| document.pointer_mut(place)) {
        *part = Json::Null;
    }
}

/// A member of the object at that place of a document is gone.
pub fn remove(document: &mut Option<Json>, place: &str, member: &str) {
    let object = document.as_mut().and_then(|document| document.pointer_mut(place)).and_then(Json::as_object_mut);
    object.map(|object| object.shift_remove(member));
}

/// Whether there is anything to apply is not asked.
pub fn without_verdict(outcome: &mut Outcome) {
    outcome.planned.code = 0;
    remove(&mut outcome.plan, "", "applyable");
}
