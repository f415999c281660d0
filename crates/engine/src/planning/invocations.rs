//! Which actions the planned changes have invoked, and with what.

use std::sync::Arc;

use groma_address::{InstanceKey, ProviderConfig, ResourceInstance};
use groma_config::ActionTrigger;
use groma_diagnostics::{Diagnostic, Span};
use groma_lang::{Scope, observing};
use groma_provider::{Checked, kept_action_config};
use groma_value::{Kind, Type, convert};

use super::drafts::{Ask, InvocationDraft, PlannedInvocations, asked};
use super::event::{Event, Instance, ManagedEvent};
use super::planner::Planner;
use crate::action_blocks::{Named, NamedKey, named};
use crate::deferral::{DeferredInvocation, Which};
use crate::evaluation::Evaluation;
use crate::invocation::{ActionEvent, ActionInstance, Cause, Invocation};
use crate::options::Deferral;
use crate::plan::{Action, DeferralReason, Mode};
use crate::templates::Template;
use crate::walk::{Outcome, Visit};
use crate::world::{InstanceScope, ModuleId};

/// A change that may have actions invoked.
struct Triggering {
    instance: Instance,
    address: ResourceInstance,
    action: Action,
    events: Events,
    /// Why nothing of it is done in this run.
    left: Option<DeferralReason>,
}

/// Which events of a change count.
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
    pub(super) fn conversed(&mut self, mut event: Box<ManagedEvent>) {
        match self.drafts_before(&event) {
            Some(drafts) if drafts.is_empty() => self.managed(*event),
            Some(drafts) => self.queue(super::event::Task::Before(event, drafts)),
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
    pub(super) async fn ask_before(&mut self, event: Box<ManagedEvent>, drafts: Vec<InvocationDraft>) {
        let deferral = self.options.deferral;
        self.talk(async move { Event::Before(event, Box::new(asked(drafts, deferral).await)) }).await;
    }

    /// A change does not happen without what comes before it.
    pub(super) fn before_planned(&mut self, mut event: Box<ManagedEvent>, planned: PlannedInvocations) {
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
    pub(super) async fn triggered_invocations(&mut self, visit: Visit, resource: u32) {
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

    /// What has still to be planned of the actions around a change.
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

    /// The actions around a change that is left to a later run, as far as they can be told: what is wrong with them is told by that.
    fn leave_triggered(&mut self, triggering: &Triggering, drafts: &mut Vec<InvocationDraft>) {
        let told = std::mem::take(&mut self.evaluation.diagnostics);
        self.triggered_by(triggering, drafts);
        self.evaluation.diagnostics = told;
    }

    /// Plans what a person asks for.
    pub(super) async fn requested_invocations(&mut self, visit: Visit, block: u32) {
        let mut drafts = Vec::new();
        if self.requests(visit.module, block, &mut drafts).is_none() {
            return self.end(visit, Outcome::Failed);
        }
        self.ask(visit, drafts).await;
    }

    fn requests(&mut self, module: ModuleId, block: u32, drafts: &mut Vec<InvocationDraft>) -> Option<()> {
        let Some(target) = &self.options.invoke else { return Some(()) };
        let config = Arc::clone(&self.world.static_module(module).config);
        let (_, action) = config.actions.get_index(block as usize)?;
        let is_meant = self.world.module(module).address == target.module
            && action.type_name == target.type_name
            && action.name == target.name;
        if !is_meant {
            return Some(());
        }
        self.is_request_met = true;
        let keys = match &target.key {
            Some(key) => vec![key.clone()],
            None => self.actions.keys(&self.world, &mut self.evaluation, module, block)?,
        };
        for key in keys {
            let named = Named { block, key: NamedKey::Known(key), named_at: None };
            drafts.push(self.draft(module, &named, Cause::Request, None)?);
        }
        Some(())
    }

    /// None after an error, which is noted.
    fn triggered_by(&mut self, triggering: &Triggering, drafts: &mut Vec<InvocationDraft>) -> Option<()> {
        let Triggering { instance, left, .. } = *triggering;
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let (_, block) = config.resources.get_index(instance.resource as usize)?;
        let repetition = self.repetition(instance);
        let functions = Arc::clone(&self.evaluation.functions);
        let may_wait = left.is_some() || self.options.deferral == Deferral::Allowed;
        let (openness, deferral) = match may_wait {
            true => (Openness::Allowed, Deferral::Allowed),
            false => (Openness::Over, Deferral::Refused),
        };
        for (at, trigger) in block.lifecycle.action_triggers.iter().enumerate() {
            let events = triggering.events(trigger);
            let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
            if events.is_empty() {
                continue;
            }
            let left = match condition(&mut self.evaluation, trigger, &scope, openness)? {
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

    fn draft(
        &mut self,
        module: ModuleId,
        named: &Named,
        cause: Cause,
        left: Option<DeferralReason>,
    ) -> Option<InvocationDraft> {
        let index = self.world.module(module).of;
        let template = self.templates.action(index, named.block).cloned()?;
        let declared = Arc::clone(&self.world.static_module(module).config);
        let (_, action) = declared.actions.get_index(named.block as usize)?;
        let config = self.actions.config(&self.world, &mut self.evaluation, &template, module, named)?;
        let (key, which) = match &named.key {
            NamedKey::Known(key) => (key.clone(), Which::Known),
            NamedKey::Open => (InstanceKey::None, Which::Unknown),
        };
        let instance = ActionInstance {
            module: self.world.module(module).address.clone(),
            type_name: action.type_name.clone(),
            name: action.name.clone(),
            key,
        };
        if let Some(problem) = template.ephemeral_misuse(&config, &instance) {
            self.evaluation.diagnostics.push(problem);
            return None;
        }
        let is_open = self.actions.is_open(&self.world, &mut self.evaluation, module, named.block)?;
        let left = left
            .or(is_open.then_some(DeferralReason::InstanceCountUnknown))
            .or((which == Which::Unknown).then_some(DeferralReason::ResourceConfigUnknown))
            .or_else(|| self.left_action(module, named.block, &template.provider));
        let (template, left) = match left {
            Some(reason) => (template, Some(reason)),
            None => match self.choose_for_action(module, named, Arc::clone(&template), &instance)? {
                Ok(chosen) => (chosen, None),
                Err(reason) => (template, Some(reason)),
            },
        };
        let ask = match left {
            Some(reason) => Ask::Never(reason),
            None => Ask::Now(self.action_provider(&template, action.span)?),
        };
        let invocation = Invocation {
            action: instance,
            cause,
            provider: (*template.provider).clone(),
            schema: Arc::clone(&template.schema),
            config: kept_action_config(&template.schema.block, &config),
        };
        let opening = template.body.opening();
        let span = if opening.is_none() { action.span } else { opening };
        Some(InvocationDraft { invocation, config, which, template, ask, span, named_at: named.named_at })
    }

    /// Why an action is left to a later run, as far as that can be told before its provider is asked.
    fn left_action(&self, module: ModuleId, block: u32, provider: &ProviderConfig) -> Option<DeferralReason> {
        if self.options.deferral == Deferral::Refused {
            return None;
        }
        let node = self.world.static_module(module).action(block as usize);
        let stands_on_such = self.walk.is_deferred(Visit { module, node });
        self.waiting.reason(provider).or(stands_on_such.then_some(DeferralReason::DeferredPrerequisite))
    }

    /// None after an error, which is noted.
    fn action_provider(&mut self, template: &Template, span: Span) -> Option<Arc<Checked>> {
        let found = self.providers.needed(&template.provider, &"an action", span);
        found.map_err(|problem| self.evaluation.tell_unless_failed(problem)).ok()
    }

    async fn ask(&mut self, visit: Visit, drafts: Vec<InvocationDraft>) {
        if drafts.is_empty() {
            return self.end(visit, Outcome::Done);
        }
        let deferral = self.options.deferral;
        self.talk(async move { Event::Invocations(visit, Box::new(asked(drafts, deferral).await)) }).await;
    }

    /// That what a person asks for is not there.
    pub(super) fn report_unmet_request(&mut self) {
        let Some(target) = self.options.invoke.as_ref().filter(|_| !self.is_request_met) else { return };
        let action = ActionInstance {
            module: target.module.clone(),
            type_name: target.type_name.clone(),
            name: target.name.clone(),
            key: target.key.clone().unwrap_or(InstanceKey::None),
        };
        let detail =
            "The -invoke option names an action block of the configuration, with the key of one instance if need be.";
        let summary = format!("action {action} does not exist in the configuration");
        self.evaluation.diagnostics.push(Diagnostic::error(summary, detail));
    }

    pub(super) fn invocations_planned(&mut self, visit: Visit, planned: PlannedInvocations) {
        let failed = planned.diagnostics.has_errors();
        self.evaluation.diagnostics.append(planned.diagnostics);
        self.invocations.extend(planned.invocations);
        self.deferred_invocations.extend(planned.deferred);
        self.end(visit, if failed { Outcome::Failed } else { Outcome::Done });
    }
}

/// Whether a trigger counts.
enum Verdict {
    Yes,
    No,
    /// That is not known yet.
    Open,
}

/// How much a condition may leave open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Openness {
    /// It must be known.
    Over,
    /// A later run sees.
    Allowed,
}

/// Whether a trigger counts; none after an error, which is noted.
fn condition(
    evaluation: &mut Evaluation,
    trigger: &ActionTrigger,
    scope: &dyn Scope,
    openness: Openness,
) -> Option<Verdict> {
    let Some(condition) = &trigger.condition else { return Some(Verdict::Yes) };
    let value = evaluation.value(condition, scope)?;
    let problem = match convert::convert(&value.unmark().0, &Type::Bool) {
        Ok(truth) => match truth.kind() {
            Kind::Bool(true) => return Some(Verdict::Yes),
            // Nobody said that something is to be invoked.
            Kind::Bool(false) | Kind::Null => return Some(Verdict::No),
            _ if openness == Openness::Allowed => return Some(Verdict::Open),
            _ => {
                let detail = "Whether the actions are invoked must be known when the plan is made, but this condition stands on something that \
                              is not known before apply.";
                Diagnostic::error("Condition must be known", detail)
            }
        },
        Err(problem) => {
            let detail =
                format!("The condition of an action_trigger block must be true or false: {}.", problem.message);
            Diagnostic::error("Incorrect value type", detail)
        }
    };
    evaluation.diagnostics.push(observing(problem.at(condition.span), condition, scope));
    None
}
