//! The actions that changes of resources trigger, and the action that a person asks for.

use std::sync::Arc;

use groma_address::{InstanceKey, ResourceInstance};
use groma_config::ActionTrigger;
use groma_diagnostics::Diagnostic;
use groma_plan::{Action, ActionEvent, ActionInstance, Cause, DeferralReason, DeferredInvocation, Mode, Which};

use super::{ActionRequests, InvocationDraft, PlannedInvocations, Verdict, ask, asked, condition, draft};
use crate::action_blocks::{Named, NamedKey, named};
use crate::evaluation::Evaluation;
use crate::options::Deferral;
use crate::planning::event::{Event, Instance, ManagedEvent, Task};
use crate::planning::inputs::Inputs;
use crate::planning::managed;
use crate::planning::plan_builder::PlanBuilder;
use crate::planning::planner::Planner;
use crate::walk::{Outcome, Visit};
use crate::world::{InstanceScope, ModuleId, World};

/// A change that may have actions invoked.
struct Triggering {
    instance: Instance,
    address: ResourceInstance,
    action: Action,
    events: Events,
    /// The reason for deferring the invocations.
    left: Option<DeferralReason>,
}

/// The events of a change that trigger actions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Events {
    Before,
    After,
    All,
}

impl Triggering {
    /// The events of a trigger that the change brings about.
    fn events(&self, trigger: &ActionTrigger) -> Vec<ActionEvent> {
        let keywords = trigger.events.iter().filter_map(|event| event.as_traversal());
        let mut events: Vec<ActionEvent> = keywords
            .filter_map(|keyword| ActionEvent::of_keyword(&keyword.root.name))
            .filter(|event| self.action.has(*event))
            .filter(|event| self.events == Events::All || event.is_before() == (self.events == Events::Before))
            .collect();
        events.sort_unstable();
        events.dedup();
        events
    }
}

/// Processes the result of a plan call for a managed object, after the actions before its change are planned.
pub(in crate::planning) fn plan_call_ended(planner: &mut Planner<'_>, mut event: Box<ManagedEvent>) {
    match drafts_before(planner, &event) {
        Some(drafts) if drafts.is_empty() => managed::managed(planner, *event),
        Some(drafts) => planner.schedule.push(Task::Before(event, drafts)),
        None => {
            event.subject.outcome = Outcome::Failed;
            managed::managed(planner, *event);
        }
    }
}

/// None after an error, which is noted.
fn drafts_before(planner: &mut Planner<'_>, event: &ManagedEvent) -> Option<Vec<InvocationDraft>> {
    let mut drafts = Vec::new();
    let (subject, result) = (&event.subject, &event.result);
    let Some(draft) = result.draft.as_ref().filter(|draft| draft.deferred.is_none()) else {
        return Some(drafts);
    };
    let Some(instance) = subject
        .instance
        .filter(|instance| subject.deposed.is_none() && triggers(&planner.inputs, &planner.world, *instance))
    else {
        return Some(drafts);
    };
    if result.diagnostics.has_errors() {
        return Some(drafts);
    }
    let (address, action) = (subject.address.clone(), draft.action);
    let triggering = Triggering { instance, address, action, events: Events::Before, left: None };
    triggered_by(planner, &triggering, &mut drafts)?;
    Some(drafts)
}

/// Whether changes of an instance have actions invoked.
fn triggers(inputs: &Inputs<'_>, world: &World, instance: Instance) -> bool {
    let config = &world.static_module(instance.module).config;
    let block = config.resources.get_index(instance.resource as usize);
    inputs.mode() == Mode::Normal
        && inputs.options().invoke.is_none()
        && block.is_some_and(|(_, block)| !block.lifecycle.action_triggers.is_empty())
}

/// Asks about the actions before a change.
pub(in crate::planning) async fn ask_before(
    planner: &mut Planner<'_>,
    event: Box<ManagedEvent>,
    drafts: Vec<InvocationDraft>,
) {
    let deferral = planner.inputs.deferral();
    planner.start_call(async move { Event::Before(event, Box::new(asked(drafts, deferral).await)) }).await;
}

/// A change does not happen without what comes before it.
pub(in crate::planning) fn before_planned(
    planner: &mut Planner<'_>,
    mut event: Box<ManagedEvent>,
    planned: PlannedInvocations,
) {
    let PlannedInvocations { invocations, deferred, diagnostics } = planned;
    event.result.diagnostics.append(diagnostics);
    if deferred.is_empty() {
        planner.plan.add_invocations(invocations);
    } else {
        let reason = DeferralReason::DeferredPrerequisite;
        let which = Which::Known;
        let others = invocations.into_iter().map(|invocation| DeferredInvocation { reason, invocation, which });
        planner.plan.defer_invocations(deferred.into_iter().chain(others));
        if let Some(instance) = event.subject.instance {
            planner.plan.note_deferred_by_actions(instance);
        }
        if let Some(draft) = &mut event.result.draft {
            draft.deferred = Some(reason);
        }
    }
    managed::managed(planner, *event);
}

/// Plans what is invoked after the changes of a resource, and around those that are left to a later run.
pub(in crate::planning) async fn triggered_invocations(planner: &mut Planner<'_>, visit: Visit, resource: u32) {
    let mut drafts = Vec::new();
    for position in 0..planner.world.module(visit.module).resources[resource as usize].expansion.len() {
        let instance = Instance { module: visit.module, resource, position };
        let Some(triggering) = triggering(&planner.inputs, &planner.world, &planner.plan, instance) else { continue };
        if triggering.left.is_some() {
            defer_triggered(planner, &triggering, &mut drafts);
        } else if triggered_by(planner, &triggering, &mut drafts).is_none() {
            return planner.end(visit, Outcome::Failed);
        }
    }
    ask(planner, visit, drafts).await;
}

/// Returns the invocations around a change that are still to be planned.
fn triggering(inputs: &Inputs<'_>, world: &World, plan: &PlanBuilder, instance: Instance) -> Option<Triggering> {
    if !triggers(inputs, world, instance) {
        return None;
    }
    if let Some(change) = plan.change_of(instance) {
        let (address, action) = (change.address.clone(), change.action);
        return Some(Triggering { instance, address, action, events: Events::After, left: None });
    }
    let change = &plan.deferred_of(instance)?.change;
    Some(Triggering {
        instance,
        address: change.address.clone(),
        action: change.action,
        events: if plan.is_deferred_by_actions(instance) { Events::After } else { Events::All },
        left: Some(DeferralReason::DeferredPrerequisite),
    })
}

/// Defers the invocations around a deferred change, and reports errors in them as far as they are known.
fn defer_triggered(planner: &mut Planner<'_>, triggering: &Triggering, drafts: &mut Vec<InvocationDraft>) {
    let reported = std::mem::take(&mut planner.evaluation.diagnostics);
    triggered_by(planner, triggering, drafts);
    planner.evaluation.diagnostics = reported;
}

/// None after an error, which is noted.
fn triggered_by(planner: &mut Planner<'_>, triggering: &Triggering, drafts: &mut Vec<InvocationDraft>) -> Option<()> {
    let Triggering { instance, left, .. } = *triggering;
    let config = Arc::clone(&planner.world.static_module(instance.module).config);
    let (_, block) = config.resources.get_index(instance.resource as usize)?;
    let repetition = managed::repetition(&planner.world, instance);
    let functions = Arc::clone(&planner.evaluation.functions);
    let deferral = if left.is_some() { Deferral::Allowed } else { planner.inputs.deferral() };
    for (at, trigger) in block.lifecycle.action_triggers.iter().enumerate() {
        let events = triggering.events(trigger);
        let scope = InstanceScope::new(&planner.world, instance.module, &functions).repeated(&repetition);
        if events.is_empty() {
            continue;
        }
        let left = match condition(&mut planner.evaluation, trigger, &scope, deferral)? {
            Verdict::No => continue,
            Verdict::Yes => left,
            Verdict::Open => left.or(Some(DeferralReason::ResourceConfigUnknown)),
        };
        for (entry, element) in trigger.actions.iter().enumerate() {
            let scope = InstanceScope::new(&planner.world, instance.module, &functions).repeated(&repetition);
            let named = named(element, &config, &scope, &mut planner.evaluation, deferral)?;
            for event in &events {
                let (block, entry) = (crate::config_graph::narrow(at), crate::config_graph::narrow(entry));
                let resource = triggering.address.clone();
                let cause = Cause::Trigger { resource, event: *event, block, entry };
                drafts.push(draft(planner, instance.module, &named, cause, left)?);
            }
        }
    }
    Some(())
}

/// Plans what a person asks for.
pub(in crate::planning) async fn requested_invocations(planner: &mut Planner<'_>, visit: Visit, block: u32) {
    let mut drafts = Vec::new();
    if requests(planner, visit.module, block, &mut drafts).is_none() {
        return planner.end(visit, Outcome::Failed);
    }
    ask(planner, visit, drafts).await;
}

fn requests(planner: &mut Planner<'_>, module: ModuleId, block: u32, drafts: &mut Vec<InvocationDraft>) -> Option<()> {
    let Some(target) = &planner.inputs.options().invoke else { return Some(()) };
    let config = Arc::clone(&planner.world.static_module(module).config);
    let (_, action) = config.actions.get_index(block as usize)?;
    let is_meant = planner.world.module(module).address == target.module
        && action.type_name == target.type_name
        && action.name == target.name;
    if !is_meant {
        return Some(());
    }
    planner.actions.note_request_met();
    let keys = match &target.key {
        Some(key) => vec![key.clone()],
        None => planner.actions.blocks().keys(&planner.world, &mut planner.evaluation, module, block)?,
    };
    for key in keys {
        let named = Named { block, key: NamedKey::Known(key), named_at: None };
        drafts.push(draft(planner, module, &named, Cause::Request, None)?);
    }
    Some(())
}

/// That what a person asks for is not there.
pub(in crate::planning) fn report_unmet_request(
    inputs: &Inputs<'_>,
    evaluation: &mut Evaluation,
    actions: &ActionRequests,
) {
    let Some(target) = inputs.options().invoke.as_ref().filter(|_| !actions.is_request_met()) else {
        return;
    };
    let action = ActionInstance {
        module: target.module.clone(),
        type_name: target.type_name.clone(),
        name: target.name.clone(),
        key: target.key.clone().unwrap_or(InstanceKey::None),
    };
    let detail =
        "The -invoke option must name an action block of the configuration, with an instance key if necessary.";
    let summary = format!("action {action} does not exist in the configuration");
    evaluation.diagnostics.push(Diagnostic::error(summary, detail));
}
