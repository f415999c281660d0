//! Deferred changes in a plan's text.

use std::collections::HashSet;

use groma_address::{Mode, ResourceInstance};
use groma_engine::{Action, DeferralReason, DeferredChange, DeferredInvocation, Plan, Which};

use super::heading::write_header;
use super::invocations::write_action;
use super::resource::{Look, write_object};
use crate::terminal::Tone;

/// A deferred change or invocation.
pub(super) enum Left<'a> {
    Change(&'a DeferredChange),
    Invocation(&'a DeferredInvocation),
    /// An invocation after a change that is made now: no later change will trigger it.
    Missed(&'a DeferredInvocation),
}

/// Returns the deferred changes that are shown.
pub(super) fn left(plan: &Plan) -> Vec<Left<'_>> {
    let changes = plan.deferred.iter().filter(|deferred| is_told(deferred)).map(Left::Change);
    let changed: HashSet<&ResourceInstance> = plan.changes.iter().map(|change| &change.address).collect();
    let invocations = plan.deferred_invocations.iter().map(|deferred| match deferred.invocation.trigger() {
        Some((resource, _)) if changed.contains(resource) => Left::Missed(deferred),
        _ => Left::Invocation(deferred),
    });
    changes.chain(invocations).collect()
}

/// Returns the number of deferred changes as the beginning of a sentence.
pub(super) fn count(left: &[Left<'_>]) -> String {
    let changes = left.iter().filter(|one| matches!(one, Left::Change(_))).count();
    let actions = left.len() - changes;
    let mut parts = Vec::new();
    if changes > 0 {
        parts.push(if changes == 1 { "1 change".to_owned() } else { format!("{changes} changes") });
    }
    if actions > 0 {
        parts.push(if actions == 1 { "1 action".to_owned() } else { format!("{actions} actions") });
    }
    format!("{} {}", parts.join(" and "), if left.len() == 1 { "is" } else { "are" })
}

impl Left<'_> {
    /// Writes the deferred change.
    pub(super) fn write(&self, look: Look<'_>, out: &mut String) {
        match self {
            Self::Change(change) => write_deferred(change, look, out),
            Self::Invocation(deferred) | Self::Missed(deferred) => {
                let subject = format!("  # {}", deferred.address());
                out.push_str(&format!("{} was deferred\n", look.palette.paint(Tone::Bold, subject)));
                out.push_str(&format!("  # ({})\n", explanation(deferred.reason, "action")));
                if matches!(self, Self::Missed(_)) {
                    let invoke = match deferred.which {
                        Which::Known => format!("it afterwards with apply -invoke={}", deferred.invocation.action),
                        Which::Unknown => "the instance that is meant afterwards with apply -invoke".to_owned(),
                    };
                    out.push_str(&format!("  # (its change is made now: invoke {invoke})\n"));
                }
                write_action(&deferred.invocation, look.palette, out);
            }
        }
    }
}

/// Appends a change that is left to a later run.
fn write_deferred(deferred: &DeferredChange, look: Look<'_>, out: &mut String) {
    let change = &deferred.change;
    let deposed = change.deposed.as_ref().map(|key| format!(" (deposed object {key})")).unwrap_or_default();
    let subject = format!("  # {}{deposed}", deferred.address());
    out.push_str(&format!("{} was deferred\n", look.palette.paint(Tone::Bold, subject)));
    out.push_str(&format!("  # ({})\n", explanation(deferred.reason, "resource")));
    if change.action == Action::NoOp {
        return;
    }
    write_header(change, look.palette, out);
    write_object(change, None, look, out);
    out.push('\n');
}

/// Whether a deferred change is shown: removed data sources are not.
fn is_told(deferred: &DeferredChange) -> bool {
    deferred.change.action != Action::Delete || deferred.change.address.resource.mode == Mode::Managed
}

fn explanation(reason: DeferralReason, what: &str) -> String {
    match reason {
        DeferralReason::InstanceCountUnknown => format!("because the number of {what} instances is unknown"),
        DeferralReason::ResourceConfigUnknown => format!("because the {what} configuration is unknown"),
        DeferralReason::ProviderConfigUnknown => "because the provider configuration is unknown".to_owned(),
        DeferralReason::AbsentPrerequisite => "because something that it needs does not exist yet".to_owned(),
        DeferralReason::DeferredPrerequisite => "because something that it depends on is deferred".to_owned(),
        DeferralReason::Unknown => "because its provider cannot plan it yet".to_owned(),
    }
}
