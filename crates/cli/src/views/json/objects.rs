//! Resource instances, actions, changes and whole plans in the message stream.

use groma_address::ResourceInstance;
use groma_engine::plan::{ActionInstance, Cause, Counts, Invocation};
use groma_engine::{Action, ActionReason, DeferredChange, Importing, Mode, OutputChange, Plan, ResourceChange};
use groma_provider::ImportTarget;
use serde_json::{Map, Value, json};

use super::stream::{Message, Stream};
use super::values::{key_json, value_json};

/// Returns the fields that identify a resource instance.
pub(crate) fn resource_json(address: &ResourceInstance) -> Value {
    let resource = &address.resource;
    let module = address.module.to_string();
    let own = address.to_string();
    let own = own.strip_prefix(&module).map_or(&*own, |own| own.trim_start_matches('.'));
    json!({
        "addr": address.to_string(),
        "module": module,
        "resource": own,
        // The part before the first underscore, whatever the actual provider is.
        "implied_provider": resource.type_name.split('_').next().unwrap_or_default(),
        "resource_type": &*resource.type_name,
        "resource_name": &*resource.name,
        "resource_key": key_json(&address.key),
    })
}

/// Returns the fields that identify an action instance.
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

/// Whether a change includes its reason.
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
    // The reason of the deferral replaces that of the action.
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

/// Returns the import ID. As in Terraform, the stream contains no identities.
fn importing_id_json(importing: &Importing) -> Value {
    match &importing.target {
        ImportTarget::Id(_) => importing_json(importing),
        ImportTarget::Identity(_) => json!({}),
    }
}

/// Returns the import ID or identity.
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

/// Subject of a change summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Changes of a plan.
    Plan,
    /// Changes made by an apply.
    Apply,
    /// Changes made by a destroy.
    Destroy,
}

impl Stream {
    /// Sends all messages about a plan: drift, planned changes, counts and outputs.
    pub fn plan(&self, plan: &Plan) {
        for change in reported_drift(plan) {
            let name = action_name(change);
            let text = format!("{}: Drift detected ({name})", change.address);
            self.send(Message::new("resource_drift", text).with("change", change_json(change, Reasons::Hidden)));
        }
        self.planned_changes(plan);
        for deferred in &plan.deferred {
            let text = format!("{}: Deferred ({})", deferred.address(), deferred.reason.name());
            self.send(Message::new("deferred_change", text).with("change", deferred_json(deferred)));
        }
        for invocation in &plan.invocations {
            let text = format!("planned action invocation: {}", invocation.action);
            self.send(Message::new("planned_action_invocation", text).with("invocation", invocation_json(invocation)));
        }
        for deferred in &plan.deferred_invocations {
            let reason = deferred.reason.name();
            let text = format!("{}: Deferred ({reason})", deferred.address());
            let mut invocation = invocation_json(&deferred.invocation);
            invocation["reason"] = reason.into();
            self.send(Message::new("deferred_action_invocation", text).with("invocation", invocation));
        }
        self.counts(plan.counts(), Counted::Plan);
        if plan.mode != Mode::RefreshOnly || !plan.outputs.is_empty() {
            self.planned_outputs(&plan.outputs);
        }
    }

    /// Sends the planned change of each object.
    fn planned_changes(&self, plan: &Plan) {
        self.each_planned(plan.changes.iter().filter(|change| is_reported(change)));
    }

    /// Sends the planned changes of a saved plan before it is applied. As in Terraform, changes that only affect the state are omitted.
    pub fn changes_to_apply(&self, plan: &Plan) {
        self.each_planned(plan.changes.iter().filter(|change| is_reported(change) && change.action != Action::NoOp));
    }

    fn each_planned<'p>(&self, changes: impl Iterator<Item = &'p ResourceChange>) {
        for change in changes {
            let text = format!("{}: Plan to {}", change.address, action_name(change));
            self.send(Message::new("planned_change", text).with("change", change_json(change, Reasons::Shown)));
        }
    }

    /// Sends the change summary.
    pub fn counts(&self, counts: Counts, counted: Counted) {
        let Counts { add, change, destroy, import, invoke, .. } = counts;
        let (will_invoke, has_invoked) = match invoke {
            0 => (String::new(), String::new()),
            count => (format!(" Actions: {count} to invoke."), format!(" Actions: {count} invoked.")),
        };
        // Terraform mentions imports only if there are any.
        let (will_import, has_imported) = match import {
            0 => (String::new(), String::new()),
            count => (format!("{count} to import, "), format!("{count} imported, ")),
        };
        let (operation, text) = match counted {
            Counted::Plan => (
                "plan",
                format!("Plan: {will_import}{add} to add, {change} to change, {destroy} to destroy.{will_invoke}"),
            ),
            Counted::Apply => (
                "apply",
                format!(
                    "Apply complete! Resources: {has_imported}{add} added, {change} changed, {destroy} destroyed.{has_invoked}"
                ),
            ),
            Counted::Destroy => ("destroy", format!("Destroy complete! Resources: {destroy} destroyed.")),
        };
        let changes = json!({
            "add": add, "change": change, "import": import, "remove": destroy, "action_invocation": invoke, "operation": operation,
        });
        self.send(Message::new("change_summary", text).with("changes", changes));
    }

    fn planned_outputs(&self, outputs: &[OutputChange]) {
        // Terraform sends no message about outputs if a plan changes none.
        if outputs.is_empty() {
            return;
        }
        let changes = outputs.iter().map(|output| {
            let value = json!({ "sensitive": output.sensitive, "action": simple_action(output.action) });
            (output.name.to_string(), value)
        });
        self.outputs(changes.collect());
    }
}

/// Returns the drift that JSON reports: all drift, but a move without another change only in a refresh-only plan. The text shows less:
/// see `shown_drift` in `views::plan`.
pub(crate) fn reported_drift(plan: &Plan) -> impl Iterator<Item = &ResourceChange> {
    let all = plan.mode == Mode::RefreshOnly;
    plan.drift.iter().filter(move |change| all || change.action != Action::NoOp)
}

fn is_reported(change: &ResourceChange) -> bool {
    match change.action {
        Action::NoOp if change.importing.is_some() => true,
        Action::NoOp => change.previous_address.as_deref().is_some_and(|previous| *previous != change.address),
        Action::Delete => change.address.resource.mode == groma_address::Mode::Managed,
        _ => true,
    }
}
