//! Invocations on their way into the plan: what each is invoked with, and the question to its provider.

use std::sync::Arc;

use groma_address::{InstanceKey, ProviderConfig};
use groma_diagnostics::Span;
use groma_plan::{ActionInstance, Cause, DeferralReason, Invocation, Which};
use groma_provider::{Checked, kept_action_config};

use crate::action_blocks::{Named, NamedKey};
use crate::evaluation::Evaluation;
use crate::options::Deferral;
use crate::planning::drafts::{Ask, InvocationDraft, PlannedInvocations, asked};
use crate::planning::event::Event;
use crate::planning::managers;
use crate::planning::planner::Planner;
use crate::providers::Providers;
use crate::templates::Template;
use crate::walk::{Outcome, Visit};
use crate::world::ModuleId;

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

/// Why an action is left to a later run, as far as that can be told before its provider is asked.
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
    found.map_err(|problem| evaluation.tell_unless_failed(problem)).ok()
}

/// Asks about what a node of the graph has invoked.
pub(super) async fn ask(planner: &mut Planner<'_>, visit: Visit, drafts: Vec<InvocationDraft>) {
    if drafts.is_empty() {
        return planner.end(visit, Outcome::Done);
    }
    let deferral = planner.inputs.deferral();
    planner.talk(async move { Event::Invocations(visit, Box::new(asked(drafts, deferral).await)) }).await;
}

pub(in crate::planning) fn invocations_planned(planner: &mut Planner<'_>, visit: Visit, planned: PlannedInvocations) {
    let failed = planned.diagnostics.has_errors();
    planner.evaluation.diagnostics.append(planned.diagnostics);
    planner.plan.add_invocations(planned.invocations);
    planner.plan.defer_invocations(planned.deferred);
    planner.end(visit, if failed { Outcome::Failed } else { Outcome::Done });
}
