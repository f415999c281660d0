//! A plan as messages.

use groma_engine::plan::Counts;
use groma_engine::{Action, Mode, OutputChange, Plan, ResourceChange};
use serde_json::json;

use super::objects::{Reasons, action_name, change_json, deferred_json, invocation_json, simple_action};
use super::stream::{Message, Stream};

/// The kind of counted changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Changes that are planned.
    Plan,
    /// Changes that an apply has made.
    Apply,
    /// Changes that a destroy has made.
    Destroy,
}

impl Stream {
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

    /// Sends the planned change of each object.
    fn planned_changes(&self, plan: &Plan) {
        self.each_planned(plan.changes.iter().filter(|change| is_told(change)));
    }

    /// Sends the changes of a saved plan that is applied, as Terraform does: without those that only update the state.
    pub fn changes_to_apply(&self, plan: &Plan) {
        self.each_planned(plan.changes.iter().filter(|change| is_told(change) && change.action != Action::NoOp));
    }

    fn each_planned<'p>(&self, changes: impl Iterator<Item = &'p ResourceChange>) {
        for change in changes {
            let text = format!("{}: Plan to {}", change.address, action_name(change));
            self.send(Message::new("planned_change", text).with("change", change_json(change, Reasons::Shown)));
        }
    }

    /// Sends the numbers of changed objects.
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
}

/// Iterates over drift; a move alone counts only if nothing else is planned.
pub(crate) fn told_drift(plan: &Plan) -> impl Iterator<Item = &ResourceChange> {
    let all = plan.mode == Mode::RefreshOnly;
    plan.drift.iter().filter(move |change| all || change.action != Action::NoOp)
}

fn is_told(change: &ResourceChange) -> bool {
    match change.action {
        Action::NoOp if change.importing.is_some() => true,
        Action::NoOp => change.previous_address.as_deref().is_some_and(|previous| *previous != change.address),
        Action::Delete => change.address.resource.mode == groma_address::Mode::Managed,
        _ => true,
    }
}
