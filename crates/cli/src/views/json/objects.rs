//! JSON messages about objects and their changes.

use groma_address::ResourceInstance;
use groma_engine::invocation::{ActionInstance, Cause, Invocation};
use groma_engine::{Action, ActionReason, DeferredChange, Importing, ResourceChange};
use groma_provider::ImportTarget;
use serde_json::{Map, Value, json};

use super::values::{key_json, value_json};

/// The fields that tell which instance is meant.
pub(crate) fn resource_json(address: &ResourceInstance) -> Value {
    let resource = &address.resource;
    let module = address.module.to_string();
    let own = address.to_string();
    let own = own.strip_prefix(&module).map_or(&*own, |own| own.trim_start_matches('.'));
    json!({
        "addr": address.to_string(),
        "module": module,
        "resource": own,
        "implied_provider": resource.type_name.split('_').next().unwrap_or_default(),
        "resource_type": &*resource.type_name,
        "resource_name": &*resource.name,
        "resource_key": key_json(&address.key),
    })
}

/// The fields that tell which instance of an action is meant.
pub(crate) fn action_json(action: &ActionInstance) -> Value {
    json!({
        "addr": action.to_string(),
        "module": action.module.to_string(),
        "action": action.local(),
        "implied_provider": action.type_name.split('_').next().unwrap_or_default(),
        "action_type": &*action.type_name,
        "action_name": &*action.name,
        "action_key": key_json(&action.key),
    })
}

pub(super) fn invocation_json(invocation: &Invocation) -> Value {
    let action = action_json(&invocation.action);
    match &invocation.cause {
        Cause::Request => json!({ "action_addr": action, "action_trigger": {} }),
        Cause::Trigger { resource, event, block, entry } => json!({
            "action_addr": action,
            "lifecycle_trigger": {
                "triggering_resource": resource_json(resource),
                "triggering_event": event.name(),
                "action_trigger_block_index": block,
                "actions_list_index": entry,
            },
        }),
    }
}

/// Whether a change comes with its reason.
pub(super) enum Reasons {
    Shown,
    Hidden,
}

pub(super) fn change_json(change: &ResourceChange, reasons: Reasons) -> Value {
    let mut object = Map::new();
    object.insert("resource".into(), resource_json(&change.address));
    if let Some(previous) = change.previous_address.as_deref().filter(|previous| **previous != change.address) {
        object.insert("previous_resource".into(), resource_json(previous));
    }
    object.insert("action".into(), action_name(change).into());
    if let (Reasons::Shown, Some(reason)) = (reasons, change.reason) {
        object.insert("reason".into(), reason_name(reason).into());
    }
    if let Some(importing) = &change.importing {
        object.insert("importing".into(), importing_id_json(importing));
        if let Some(text) = &importing.generated {
            object.insert("generated_config".into(), text.as_str().into());
        }
    }
    Value::Object(object)
}

pub(super) fn deferred_json(deferred: &DeferredChange) -> Value {
    let mut json = change_json(&deferred.change, Reasons::Hidden);
    json["reason"] = deferred.reason.name().into();
    if !deferred.open_steps.is_empty() {
        let module = deferred.module_address();
        let address = deferred.address();
        json["resource"]["resource"] = address.strip_prefix(&module).unwrap_or(&address).trim_start_matches('.').into();
        json["resource"]["addr"] = address.into();
        json["resource"]["module"] = module.into();
    }
    if deferred.stands_for_many() {
        json["resource"]["resource_key"] = "*".into();
    }
    json
}

/// The id of an object that is taken over. The stream tells no identities, as in Terraform.
fn importing_id_json(importing: &Importing) -> Value {
    match &importing.target {
        ImportTarget::Id(_) => importing_json(importing),
        ImportTarget::Identity(_) => json!({}),
    }
}

/// Returns the import target of an imported object.
pub(crate) fn importing_json(importing: &Importing) -> Value {
    match &importing.target {
        ImportTarget::Id(id) => json!({ "id": id }),
        ImportTarget::Identity(identity) => json!({ "identity": value_json(identity) }),
    }
}

pub(super) fn action_name(change: &ResourceChange) -> &'static str {
    match change.action {
        Action::NoOp if change.importing.is_some() => "import",
        Action::NoOp if change.previous_address.is_some() => "move",
        action => simple_action(action),
    }
}

pub(super) fn simple_action(action: Action) -> &'static str {
    match action {
        Action::NoOp => "noop",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::Delete => "delete",
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => "replace",
        Action::Forget => "remove",
    }
}

fn reason_name(reason: ActionReason) -> &'static str {
    match reason {
        ActionReason::ReplaceBecauseTainted => "tainted",
        ActionReason::ReplaceByRequest => "requested",
        ActionReason::ReplaceByTriggers => "replace_triggered_by",
        ActionReason::ReplaceBecauseCannotUpdate => "cannot_update",
        other => other.name(),
    }
}
