//! Invocations of actions in a plan, and their configurations.

pub(super) mod triggered;

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::{InstanceKey, ProviderConfig, ResourceInstance};
use groma_config::ActionTrigger;
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_lang::{Scope, observing};
use groma_plan::{ActionInstance, Cause, DeferralReason, DeferredInvocation, Invocation, Which};
use groma_provider::{ActionSubject, Checked, kept_action_config};
use groma_value::{Kind, Type, Value, convert};

use crate::action_blocks::{ActionBlocks, Named, NamedKey};
use crate::evaluation::Evaluation;
use crate::merge_diagnostics::{Summaries, merged};
use crate::options::Deferral;
use crate::planning::event::Event;
use crate::planning::managers;
use crate::planning::planner::Planner;
use crate::providers::Providers;
use crate::templates::Template;
use crate::walk::{Outcome, Visit};
use crate::world::ModuleId;

/// The action blocks evaluated so far, and the action requested with `-invoke`.
///
/// It owns the repetition of action blocks, which is evaluated once for each module instance, and the information whether
/// the block of the requested action was found. The plan builder holds the invocations themselves.
pub(super) struct ActionRequests {
    blocks: ActionBlocks,
    is_request_met: bool,
}

impl ActionRequests {
    pub(super) fn with(deferral: Deferral) -> Self {
        Self { blocks: ActionBlocks::with(deferral), is_request_met: false }
    }

    pub(super) fn blocks(&mut self) -> &mut ActionBlocks {
        &mut self.blocks
    }

    /// Notes that the configuration has the action that a person asks for.
    pub(super) fn note_request_met(&mut self) {
        self.is_request_met = true;
    }

    pub(super) fn is_request_met(&self) -> bool {
        self.is_request_met
    }
}

/// None after an error, which is noted.
pub(super) fn draft(
    planner: &mut Planner<'_>,
    module: ModuleId,
    named: &Named,
    cause: Cause,
    left: Option<DeferralReason>,
) -> Option<InvocationDraft> {
    let index = planner.world.module(module).of;
    let template = planner.inputs.templates().action(index, named.block).cloned()?;
    let declared = Arc::clone(&planner.world.static_module(module).config);
    let (_, action) = declared.actions.get_index(named.block as usize)?;
    let config = planner.actions.blocks().config(&planner.world, &mut planner.evaluation, &template, module, named)?;
    let (key, which) = match &named.key {
        NamedKey::Known(key) => (key.clone(), Which::Known),
        NamedKey::Open => (InstanceKey::None, Which::Unknown),
    };
    let instance = ActionInstance {
        module: planner.world.module(module).address.clone(),
        type_name: action.type_name.clone(),
        name: action.name.clone(),
        key,
    };
    if let Some(problem) = template.ephemeral_misuse(&config, &instance) {
        planner.evaluation.diagnostics.push(problem);
        return None;
    }
    let is_open = planner.actions.blocks().is_open(&planner.world, &mut planner.evaluation, module, named.block)?;
    let left = left
        .or(is_open.then_some(DeferralReason::InstanceCountUnknown))
        .or((which == Which::Unknown).then_some(DeferralReason::ResourceConfigUnknown))
        .or_else(|| left_action(planner, module, named.block, &template.provider));
    let (template, left) = match left {
        Some(reason) => (template, Some(reason)),
        None => match managers::choose_for_action(planner, module, named, Arc::clone(&template), &instance)? {
            Ok(chosen) => (chosen, None),
            Err(reason) => (template, Some(reason)),
        },
    };
    let ask = match left {
        Some(reason) => Ask::Never(reason),
        None => Ask::Now(action_provider(planner.providers, &mut planner.evaluation, &template, action.span)?),
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

/// Returns the reason for deferring an action, as far as it is known before its provider is asked.
fn left_action(
    planner: &Planner<'_>,
    module: ModuleId,
    block: u32,
    provider: &ProviderConfig,
) -> Option<DeferralReason> {
    if planner.inputs.deferral() == Deferral::Refused {
        return None;
    }
    let node = planner.world.static_module(module).action(block as usize);
    let stands_on_such = planner.schedule.is_deferred(Visit { module, node });
    planner.managers.deferral_reason(provider).or(stands_on_such.then_some(DeferralReason::DeferredPrerequisite))
}

/// None after an error, which is noted.
fn action_provider(
    providers: &Providers,
    evaluation: &mut Evaluation,
    template: &Template,
    span: Span,
) -> Option<Arc<Checked>> {
    let found = providers.needed(&template.provider, &"an action", span);
    found.map_err(|problem| evaluation.report_unless_failed(problem)).ok()
}

/// Asks about what a node of the graph has invoked.
pub(super) async fn ask(planner: &mut Planner<'_>, visit: Visit, drafts: Vec<InvocationDraft>) {
    if drafts.is_empty() {
        return planner.end(visit, Outcome::Done);
    }
    let deferral = planner.inputs.deferral();
    planner.start_call(async move { Event::Invocations(visit, Box::new(asked(drafts, deferral).await)) }).await;
}

pub(in crate::planning) fn invocations_planned(planner: &mut Planner<'_>, visit: Visit, planned: PlannedInvocations) {
    let failed = planned.diagnostics.has_errors();
    planner.evaluation.diagnostics.append(planned.diagnostics);
    planner.plan.add_invocations(planned.invocations);
    planner.plan.defer_invocations(planned.deferred);
    planner.end(visit, if failed { Outcome::Failed } else { Outcome::Done });
}

/// An invocation before its provider was asked.
pub(in crate::planning) struct InvocationDraft {
    pub(in crate::planning) invocation: Invocation,
    /// The evaluated configuration for the provider, with ephemeral values, which no plan contains.
    pub(in crate::planning) config: Value,
    pub(in crate::planning) which: Which,
    pub(in crate::planning) template: Arc<Template>,
    pub(in crate::planning) ask: Ask,
    pub(in crate::planning) span: Span,
    /// The element of a list that names it.
    pub(in crate::planning) named_at: Option<Span>,
}

/// Whether a provider is asked about an invocation.
pub(in crate::planning) enum Ask {
    Now(Arc<Checked>),
    /// The invocation is deferred for this reason.
    Never(DeferralReason),
}

/// Invocations with what their providers say of them.
pub(in crate::planning) struct PlannedInvocations {
    pub(in crate::planning) invocations: Vec<Invocation>,
    /// The deferred invocations.
    pub(in crate::planning) deferred: Vec<DeferredInvocation>,
    pub(in crate::planning) diagnostics: Diagnostics,
}

/// Asks providers about invocations, one after the other.
pub(in crate::planning) async fn asked(drafts: Vec<InvocationDraft>, deferral: Deferral) -> PlannedInvocations {
    let mut planned = PlannedInvocations {
        invocations: Vec::with_capacity(drafts.len()),
        deferred: Vec::new(),
        diagnostics: Diagnostics::new(),
    };
    // Changes whose list came to something that is left to a later run, before them or after.
    let mut broken: HashSet<(ResourceInstance, bool)> = HashSet::new();
    for InvocationDraft { invocation, config, which, template, ask, span, named_at } in drafts {
        let list = invocation.trigger().map(|(resource, event)| (resource.clone(), event.is_before()));
        let reason = match ask {
            Ask::Never(reason) => Some(reason),
            Ask::Now(_) if list.as_ref().is_some_and(|list| broken.contains(list)) => {
                Some(DeferralReason::DeferredPrerequisite)
            }
            Ask::Now(provider) => {
                let subject = ActionSubject { type_name: &invocation.action.type_name, body: &template.body, span };
                let answer = provider.plan_action(&subject, &config, deferral.capabilities());
                let (deferred, problems) = answer.await;
                let failed = problems.has_errors();
                planned.diagnostics.append(reported(problems, &invocation.action, named_at));
                if failed && named_at.is_some() {
                    continue;
                }
                deferred.map(DeferralReason::from)
            }
        };
        match reason {
            None => planned.invocations.push(invocation),
            Some(reason) => {
                broken.extend(list);
                planned.deferred.push(DeferredInvocation { reason, invocation, which });
            }
        }
    }
    planned
}

const SUMMARIES: Summaries = Summaries { error: "Failed to plan action", warning: "Warnings when planning action" };

/// Problems with an action, at the element of a list that names it; where a person asks for it, they are about the action itself.
fn reported(problems: Diagnostics, action: &ActionInstance, named_at: Option<Span>) -> Diagnostics {
    match named_at {
        Some(span) => merged(problems, &SUMMARIES).into_iter().map(|problem| problem.at(span)).collect(),
        None => problems.into_iter().map(|problem| problem.about(action)).collect(),
    }
}

/// Whether a trigger counts.
pub(super) enum Verdict {
    Yes,
    No,
    /// That is not known yet.
    Open,
}

/// Whether a trigger counts; what is not known yet is an error unless a later run may see. None after an error, which is noted.
pub(super) fn condition(
    evaluation: &mut Evaluation,
    trigger: &ActionTrigger,
    scope: &dyn Scope,
    deferral: Deferral,
) -> Option<Verdict> {
    let Some(condition) = &trigger.condition else { return Some(Verdict::Yes) };
    let value = evaluation.value(condition, scope)?;
    let problem = match convert::convert(&value.unmark().0, &Type::Bool) {
        Ok(truth) => match truth.kind() {
            Kind::Bool(true) => return Some(Verdict::Yes),
            // Nobody said that something is to be invoked.
            Kind::Bool(false) | Kind::Null => return Some(Verdict::No),
            _ if deferral == Deferral::Allowed => return Some(Verdict::Open),
            _ => {
                let detail = "The condition of an action trigger must be known during planning, but this one \
                 depends on a value that is known only after apply.";
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
