//! Deferred changes and action invocations of a plan.

use std::collections::HashSet;

use groma_address::{Mode, ResourceInstance};
use groma_engine::plan::{Cause, Invocation};
use groma_engine::{Action, DeferralReason, DeferredChange, DeferredInvocation, Plan, ResourceChange, Which};

use super::resource::{ChangeOptions, write_header, write_object};
use crate::terminal::{Palette, Tone};
use crate::views::difference::{Paths, Relevance, RenderOptions, Writer, compare_objects};

/// A deferred change or action invocation to show.
pub(super) enum Deferral<'a> {
    Change(&'a DeferredChange),
    Invocation(&'a DeferredInvocation),
    /// An invocation whose triggering change is not deferred, so that no later change will trigger it.
    Missed(&'a DeferredInvocation),
}

/// Returns the deferrals of a plan to show.
pub(super) fn deferrals(plan: &Plan) -> Vec<Deferral<'_>> {
    let changes = plan.deferred.iter().filter(|deferred| is_shown(deferred)).map(Deferral::Change);
    let changed: HashSet<&ResourceInstance> = plan.changes.iter().map(|change| &change.address).collect();
    let invocations = plan.deferred_invocations.iter().map(|deferred| match deferred.invocation.trigger() {
        Some((resource, _)) if changed.contains(resource) => Deferral::Missed(deferred),
        _ => Deferral::Invocation(deferred),
    });
    changes.chain(invocations).collect()
}

/// Returns the number of deferrals as the start of a sentence: `2 changes and 1 action are`.
pub(super) fn count(deferrals: &[Deferral<'_>]) -> String {
    let changes = deferrals.iter().filter(|one| matches!(one, Deferral::Change(_))).count();
    let actions = deferrals.len() - changes;
    let mut parts = Vec::new();
    if changes > 0 {
        parts.push(if changes == 1 { "1 change".to_owned() } else { format!("{changes} changes") });
    }
    if actions > 0 {
        parts.push(if actions == 1 { "1 action".to_owned() } else { format!("{actions} actions") });
    }
    format!("{} {}", parts.join(" and "), if deferrals.len() == 1 { "is" } else { "are" })
}

impl Deferral<'_> {
    /// Appends the deferral to `out`.
    pub(super) fn write(&self, options: ChangeOptions<'_>, out: &mut String) {
        match self {
            Self::Change(change) => write_deferred(change, options, out),
            Self::Invocation(deferred) | Self::Missed(deferred) => {
                let subject = format!("  # {}", deferred.address());
                out.push_str(&format!("{} was deferred\n", options.palette.paint(Tone::Bold, subject)));
                out.push_str(&format!("  # ({})\n", explanation(deferred.reason, "action")));
                if matches!(self, Self::Missed(_)) {
                    let invoke = match deferred.which {
                        Which::Known => format!("it afterwards with apply -invoke={}", deferred.invocation.action),
                        Which::Unknown => "the instance afterwards with apply -invoke".to_owned(),
                    };
                    out.push_str(&format!("  # (its triggering change is not deferred: invoke {invoke})\n"));
                }
                write_action(&deferred.invocation, options.palette, out);
            }
        }
    }
}

/// Appends a deferred change.
fn write_deferred(deferred: &DeferredChange, options: ChangeOptions<'_>, out: &mut String) {
    let change = &deferred.change;
    let deposed = change.deposed.as_ref().map(|key| format!(" (deposed object {key})")).unwrap_or_default();
    let subject = format!("  # {}{deposed}", deferred.address());
    out.push_str(&format!("{} was deferred\n", options.palette.paint(Tone::Bold, subject)));
    out.push_str(&format!("  # ({})\n", explanation(deferred.reason, "resource")));
    // A deferred import without changes has nothing else to show.
    if change.action == Action::NoOp {
        return;
    }
    write_header(change, options.palette, out);
    write_object(change, None, options, out);
    out.push('\n');
}

/// Whether a deferred change is shown. The removal of data from the state is not.
fn is_shown(deferred: &DeferredChange) -> bool {
    deferred.change.action != Action::Delete || deferred.change.address.resource.mode == Mode::Managed
}

fn explanation(reason: DeferralReason, what: &str) -> String {
    match reason {
        DeferralReason::InstanceCountUnknown => format!("because the number of {what} instances is unknown"),
        DeferralReason::ResourceConfigUnknown => format!("because the {what} configuration is unknown"),
        DeferralReason::ProviderConfigUnknown => "because the provider configuration is unknown".to_owned(),
        DeferralReason::AbsentPrerequisite => "because a prerequisite does not exist yet".to_owned(),
        DeferralReason::DeferredPrerequisite => "because a prerequisite is deferred".to_owned(),
        DeferralReason::Unknown => "because its provider cannot plan it yet".to_owned(),
    }
}

const UNCHANGED: RenderOptions = RenderOptions {
    hides_null: true,
    forces_replacement: false,
    shows_unchanged: true,
    hides_symbols: true,
    signs_zero: false,
};

/// Appends the actions that a change triggers: those before it, then those after it.
pub(super) fn write_around(plan: &Plan, change: &ResourceChange, palette: Palette, out: &mut String) {
    if change.deposed.is_some() {
        return;
    }
    for (is_before, word) in [(true, "before"), (false, "after")] {
        let mut invocations = plan.invocations.iter().filter(|invocation| {
            let trigger = invocation.trigger();
            trigger.is_some_and(|(resource, event)| *resource == change.address && event.is_before() == is_before)
        });
        let Some(first) = invocations.next() else { continue };
        out.push_str(&format!("\n    # Actions to be invoked {word} this change in order:\n"));
        for invocation in std::iter::once(first).chain(invocations) {
            write_action(invocation, palette, out);
        }
        out.push('\n');
    }
}

/// Returns the invocations that `-invoke` requests.
pub(super) fn requested(plan: &Plan) -> impl Iterator<Item = &Invocation> {
    plan.invocations.iter().filter(|invocation| invocation.cause == Cause::Request)
}

/// Appends an invocation that `-invoke` requests.
pub(super) fn write_requested(invocation: &Invocation, palette: Palette, out: &mut String) {
    let comment = format!("  # {} will be invoked", invocation.action);
    out.push_str(&palette.paint(Tone::Bold, comment).to_string());
    out.push('\n');
    write_action(invocation, palette, out);
}

/// Appends an action with its configuration.
pub(super) fn write_action(invocation: &Invocation, palette: Palette, out: &mut String) {
    let action = &invocation.action;
    out.push_str(&format!("    action \"{}\" \"{}\" {{\n        config ", action.type_name, action.name));
    let block = &invocation.schema.block;
    let difference = compare_objects(block, &invocation.config, &invocation.config, Paths::default(), Relevance::All);
    Writer::new(palette, out).difference(&difference, 2, UNCHANGED);
    out.push_str("\n    }\n");
}
