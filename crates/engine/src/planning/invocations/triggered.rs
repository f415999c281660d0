//! The actions that changes of resources have invoked.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_config::ActionTrigger;

use super::condition::{Verdict, condition};
use crate::action_blocks::named;
use crate::deferral::{DeferredInvocation, Which};
use crate::invocation::{ActionEvent, Cause};
use crate::options::Deferral;
use crate::plan::{Action, DeferralReason, Mode};
use crate::planning::drafts::{InvocationDraft, PlannedInvocations, asked};
use crate::planning::event::{Event, Instance, ManagedEvent, Task};
use crate::planning::planner::Planner;
use crate::walk::{Outcome, Visit};
use crate::world::InstanceScope;

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

impl Planner<'_> {
    /// Takes in what a conversation about a managed object found out, after the actions before its change are planned.
    pub(in crate::planning) fn conversed(&mut self, mut event: Box<ManagedEvent>) {
        match self.drafts_before(&event) {
            Some(drafts) if drafts.is_empty() => self.managed(*event),
            Some(drafts) => self.queue(Task::Before(event, drafts)),
            None => {
                event.subject.outcome = Outcome::Failed;
                self.managed(*event);
            }
        }
    }

    /// None after an error, which is noted.
    fn drafts_before(&mut self, event: &ManagedEvent) -> Option<Vec<InvocationDraft>> {
        let mut drafts = Vec::new();
        let (subject, conversed) = (&event.subject, &event.conversed);
        let Some(draft) = conversed.draft.as_ref().filter(|draft| draft.deferred.is_none()) else {
            return Some(drafts);
        };
        let Some(instance) = subject.instance.filter(|instance| subject.deposed.is_none() && self.triggers(*instance))
        else {
            return Some(drafts);
        };
        if conversed.diagnostics.has_errors() {
            return Some(drafts);
        }
        let (address, action) = (subject.address.clone(), draft.action);
        let triggering = Triggering { instance, address, action, events: Events::Before, left: None };
        self.triggered_by(&triggering, &mut drafts)?;
        Some(drafts)
    }

    /// Whether changes of an instance have actions invoked.
    fn triggers(&self, instance: Instance) -> bool {
        let config = &self.world.static_module(instance.module).config;
        let block = config.resources.get_index(instance.resource as usize);
        self.options.mode == Mode::Normal
            && self.options.invoke.is_none()
            && block.is_some_and(|(_, block)| !block.lifecycle.action_triggers.is_empty())
    }

    /// Asks about the actions before a change.
    pub(in crate::planning) async fn ask_before(&mut self, event: Box<ManagedEvent>, drafts: Vec<InvocationDraft>) {
        let deferral = self.options.deferral;
        self.talk(async move { Event::Before(event, Box::new(asked(drafts, deferral).await)) }).await;
    }

    /// A change does not happen without what comes before it.
    pub(in crate::planning) fn before_planned(&mut self, mut event: Box<ManagedEvent>, planned: PlannedInvocations) {
        let PlannedInvocations { invocations, deferred, diagnostics } = planned;
        event.conversed.diagnostics.append(diagnostics);
        if deferred.is_empty() {
            self.invocations.extend(invocations);
        } else {
            let reason = DeferralReason::DeferredPrerequisite;
            let which = Which::Known;
            let others = invocations.into_iter().map(|invocation| DeferredInvocation { reason, invocation, which });
            self.deferred_invocations.extend(deferred.into_iter().chain(others));
            self.told_before.extend(event.subject.instance);
            if let Some(draft) = &mut event.conversed.draft {
                draft.deferred = Some(reason);
            }
        }
        self.managed(*event);
    }

    /// Plans what is invoked after the changes of a resource, and around those that are left to a later run.
    pub(in crate::planning) async fn triggered_invocations(&mut self, visit: Visit, resource: u32) {
        let mut drafts = Vec::new();
        for position in 0..self.world.module(visit.module).resources[resource as usize].expansion.len() {
            let instance = Instance { module: visit.module, resource, position };
            let Some(triggering) = self.triggering(instance) else { continue };
            if triggering.left.is_some() {
                self.leave_triggered(&triggering, &mut drafts);
            } else if self.triggered_by(&triggering, &mut drafts).is_none() {
                return self.end(visit, Outcome::Failed);
            }
        }
        self.ask(visit, drafts).await;
    }

    /// Returns the invocations around a change that are still to be planned.
    fn triggering(&self, instance: Instance) -> Option<Triggering> {
        if !self.triggers(instance) {
            return None;
        }
        if let Some(change) = self.change_of.get(&instance).and_then(|at| self.changes.get(*at)) {
            let (address, action) = (change.address.clone(), change.action);
            return Some(Triggering { instance, address, action, events: Events::After, left: None });
        }
        let change = &self.deferred.get(*self.left_of.get(&instance)?)?.change;
        Some(Triggering {
            instance,
            address: change.address.clone(),
            action: change.action,
            events: if self.told_before.contains(&instance) { Events::After } else { Events::All },
            left: Some(DeferralReason::DeferredPrerequisite),
        })
    }

    /// Defers the invocations around a deferred change, and reports errors in them as far as they are known.
    fn leave_triggered(&mut self, triggering: &Triggering, drafts: &mut Vec<InvocationDraft>) {
        let told = std::mem::take(&mut self.evaluation.diagnostics);
        self.triggered_by(triggering, drafts);
        self.evaluation.diagnostics = told;
    }

    /// None after an error, which is noted.
    fn triggered_by(&mut self, triggering: &Triggering, drafts: &mut Vec<InvocationDraft>) -> Option<()> {
        let Triggering { instance, left, .. } = *triggering;
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let (_, block) = config.resources.get_index(instance.resource as usize)?;
        let repetition = self.repetition(instance);
        let functions = Arc::clone(&self.evaluation.functions);
        let deferral = if left.is_some() { Deferral::Allowed } else { self.options.deferral };
        for (at, trigger) in block.lifecycle.action_triggers.iter().enumerate() {
            let events = triggering.events(trigger);
            let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
            if events.is_empty() {
                continue;
            }
            let left = match condition(&mut self.evaluation, trigger, &scope, deferral)? {
                Verdict::No => continue,
                Verdict::Yes => left,
                Verdict::Open => left.or(Some(DeferralReason::ResourceConfigUnknown)),
            };
            for (entry, element) in trigger.actions.iter().enumerate() {
                let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
                let named = named(element, &config, &scope, &mut self.evaluation, deferral)?;
                for event in &events {
                    let (block, entry) = (crate::config_graph::narrow(at), crate::config_graph::narrow(entry));
                    let resource = triggering.address.clone();
                    let cause = Cause::Trigger { resource, event: *event, block, entry };
                    drafts.push(self.draft(instance.module, &named, cause, left)?);
                }
            }
        }
        Some(())
    }
}
