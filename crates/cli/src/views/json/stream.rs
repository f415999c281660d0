//! The message stream of `-json`: one object a line.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use groma_address::{InstanceKey, ResourceInstance};
use groma_diagnostics::{Diagnostic, Severity, Sources};
use groma_engine::invocation::{ActionInstance, Cause, Invocation};
use groma_engine::plan::Counts;
use groma_engine::{Action, ActionReason, DeferredChange, Importing, Mode, OutputChange, Plan, ResourceChange};
use groma_provider::ImportTarget;
use serde_json::{Map, Value, json};

use super::text::compact;
use super::values::value_json;
use crate::views::diagnostic::diagnostic_json;

/// Version of the message format.
const UI_VERSION: &str = "1.3";

/// Where messages go. Cheap to clone; lines of several threads do not mix.
#[derive(Clone)]
pub struct Stream {
    out: Arc<Mutex<dyn Write + Send>>,
    now: fn() -> String,
}

/// One message: a sentence for people and fields for programs.
#[derive(Clone, Debug)]
pub struct Message {
    level: &'static str,
    text: String,
    /// What a sentence that is for people alone does not have.
    kind: Option<&'static str>,
    fields: Vec<(&'static str, Value)>,
}

impl Message {
    /// A message of the kind `kind`.
    pub fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { level: "info", text: text.into(), kind: Some(kind), fields: Vec::new() }
    }

    /// A sentence of which programs need to know nothing.
    pub fn said(text: impl Into<String>) -> Self {
        Self { level: "info", text: text.into(), kind: None, fields: Vec::new() }
    }

    /// The same with a further field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Self {
        self.fields.push((name, value));
        self
    }

    fn at_level(mut self, level: &'static str) -> Self {
        self.level = level;
        self
    }
}

/// What a count of changes is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Planned changes.
    Plan,
    /// Changes that an apply has made.
    Apply,
    /// Changes that a destroy has made.
    Destroy,
}

impl Stream {
    /// A stream into `out`; `now` gives the time stamps.
    pub fn new(out: Arc<Mutex<dyn Write + Send>>, now: fn() -> String) -> Self {
        Self { out, now }
    }

    /// Writes one message. Whoever closed the stream does not want to read any more: that is no error.
    pub fn send(&self, message: Message) {
        let mut fields: BTreeMap<&str, Value> = message.fields.into_iter().collect();
        if let Some(kind) = message.kind {
            fields.insert("type", kind.into());
        }
        let mut object = Map::new();
        object.insert("@level".into(), message.level.into());
        object.insert("@message".into(), message.text.into());
        object.insert("@module".into(), "terraform.ui".into());
        object.insert("@timestamp".into(), (self.now)().into());
        object.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let mut line = compact(&Value::Object(object));
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(line.as_bytes());
        let _ = out.flush();
    }

    /// The first message: versions.
    pub fn version(&self, terraform_version: &str) {
        let text = format!("Terraform {terraform_version}");
        self.send(
            Message::new("version", text).with("terraform", terraform_version.into()).with("ui", UI_VERSION.into()),
        );
    }

    /// One diagnostic.
    pub fn diagnostic(&self, diagnostic: &Diagnostic, sources: &Sources) {
        let (level, word) = match diagnostic.severity {
            Severity::Error => ("error", "Error"),
            Severity::Warning => ("warn", "Warning"),
        };
        let text = format!("{word}: {}", diagnostic.summary);
        self.send(
            Message::new("diagnostic", text).at_level(level).with("diagnostic", diagnostic_json(diagnostic, sources)),
        );
    }

    /// Everything about a plan: drift, planned changes, counts, outputs.
    pub fn plan(&self, plan: &Plan) {
        for change in told_drift(plan) {
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

    /// What is going to happen to each object.
    fn planned_changes(&self, plan: &Plan) {
        self.each_planned(plan.changes.iter().filter(|change| is_told(change)));
    }

    /// Those of a saved plan that is applied, as Terraform tells them: without those that the state takes in and nothing else does.
    pub fn changes_to_apply(&self, plan: &Plan) {
        self.each_planned(plan.changes.iter().filter(|change| is_told(change) && change.action != Action::NoOp));
    }

    fn each_planned<'p>(&self, changes: impl Iterator<Item = &'p ResourceChange>) {
        for change in changes {
            let text = format!("{}: Plan to {}", change.address, action_name(change));
            self.send(Message::new("planned_change", text).with("change", change_json(change, Reasons::Shown)));
        }
    }

    /// How many objects were, or will be, changed.
    pub fn counts(&self, counts: Counts, counted: Counted) {
        let Counts { add, change, destroy, import, invoke, .. } = counts;
        let (will_invoke, has_invoked) = match invoke {
            0 => (String::new(), String::new()),
            count => (format!(" Actions: {count} to invoke."), format!(" Actions: {count} invoked.")),
        };
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
        if outputs.is_empty() {
            return;
        }
        let told = outputs.iter().map(|output| {
            let value = json!({ "sensitive": output.sensitive, "action": simple_action(output.action) });
            (output.name.to_string(), value)
        });
        self.outputs(told.collect());
    }

    /// Output values by name.
    pub fn outputs(&self, outputs: Map<String, Value>) {
        let text = format!("Outputs: {}", outputs.len());
        self.send(Message::new("outputs", text).with("outputs", Value::Object(outputs)));
    }
}

/// What changed outside; a move alone is no such change unless nothing else is planned.
pub(crate) fn told_drift(plan: &Plan) -> impl Iterator<Item = &ResourceChange> {
    let all = plan.mode == Mode::RefreshOnly;
    plan.drift.iter().filter(move |change| all || change.action != Action::NoOp)
}

/// The fields that tell which instance is meant.
pub(crate) fn resource_json(address: &ResourceInstance) -> Value {
    let resource = &address.resource;
    let module = address.module.to_string();
    let own = address.to_string();
    let own = own.strip_prefix(&module).map_or(&*own, |own| own.trim_start_matches('.'));
    let key = match &address.key {
        InstanceKey::None => Value::Null,
        InstanceKey::Int(index) => (*index).into(),
        InstanceKey::String(name) => name.to_string().into(),
    };
    json!({
        "addr": address.to_string(),
        "module": module,
        "resource": own,
        "implied_provider": resource.type_name.split('_').next().unwrap_or_default(),
        "resource_type": &*resource.type_name,
        "resource_name": &*resource.name,
        "resource_key": key,
    })
}

/// The fields that tell which instance of an action is meant.
pub(crate) fn action_json(action: &ActionInstance) -> Value {
    let key = match &action.key {
        InstanceKey::None => Value::Null,
        InstanceKey::Int(index) => (*index).into(),
        InstanceKey::String(name) => name.to_string().into(),
    };
    json!({
        "addr": action.to_string(),
        "module": action.module.to_string(),
        "action": action.local(),
        "implied_provider": action.type_name.split('_').next().unwrap_or_default(),
        "action_type": &*action.type_name,
        "action_name": &*action.name,
        "action_key": key,
    })
}

fn invocation_json(invocation: &Invocation) -> Value {
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

enum Reasons {
    Shown,
    Hidden,
}

fn change_json(change: &ResourceChange, reasons: Reasons) -> Value {
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

fn deferred_json(deferred: &DeferredChange) -> Value {
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

/// How an object that is taken over was named.
pub(crate) fn importing_json(importing: &Importing) -> Value {
    match &importing.target {
        ImportTarget::Id(id) => json!({ "id": id }),
        ImportTarget::Identity(identity) => json!({ "identity": value_json(identity) }),
    }
}

fn is_told(change: &ResourceChange) -> bool {
    match change.action {
        Action::NoOp if change.importing.is_some() => true,
        Action::NoOp => change.previous_address.as_deref().is_some_and(|previous| *previous != change.address),
        Action::Delete => change.address.resource.mode == groma_address::Mode::Managed,
        _ => true,
    }
}

fn action_name(change: &ResourceChange) -> &'static str {
    match change.action {
        Action::NoOp if change.importing.is_some() => "import",
        Action::NoOp if change.previous_address.is_some() => "move",
        action => simple_action(action),
    }
}

fn simple_action(action: Action) -> &'static str {
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
