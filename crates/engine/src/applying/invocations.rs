//! Invocation of actions while applying.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_plan::{Cause, Invocation};
use groma_provider::ActionSubject;
use groma_value::Value;

use super::applier::Applier;
use super::event::Event;
use crate::action_blocks::{Named, NamedKey};
use crate::config_graph::narrow;
use crate::merge_diagnostics::{Summaries, merged};
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::World;

const SUMMARIES: Summaries = Summaries { error: "Error when invoking action", warning: "Warning when invoking action" };

/// Starts the invocation of an action.
pub(super) async fn invoke(applier: &mut Applier<'_>, step: u32, invocation: u32) {
    let Some(invocation) = applier.inputs.invocation(invocation).cloned() else {
        return applier.end(step, Outcome::Failed);
    };
    let Some((template, config, span)) = action_config(applier, &invocation) else {
        return applier.end(step, Outcome::Failed);
    };
    let provider = match applier.providers.needed(&invocation.provider, &invocation.action, span) {
        Ok(provider) => provider,
        Err(problem) => {
            applier.evaluation.diagnostics.push(problem);
            return applier.end(step, Outcome::Failed);
        }
    };
    let hooks = Arc::clone(&applier.inputs.session().hooks);
    let call = async move {
        hooks.action_start(&invocation);
        let reported = Arc::clone(&invocation);
        let progress = Arc::new(move |message: &str| hooks.action_progress(&reported, message));
        let subject = ActionSubject { type_name: &invocation.action.type_name, body: &template.body, span };
        let problems = provider.invoke_action(&subject, &config, progress).await;
        Event::Invoked(invocation, problems)
    };
    applier.start_call(step, call).await;
}

fn action_config(applier: &mut Applier<'_>, invocation: &Invocation) -> Option<(Arc<Template>, Value, Span)> {
    let action = &invocation.action;
    let module = applier.world.find(&action.module)?;
    let config = Arc::clone(&applier.world.static_module(module).config);
    let (block, _, written) = config.actions.get_full(&(action.type_name.clone(), action.name.clone()))?;
    let template = applier.inputs.templates().action(applier.world.module(module).of, narrow(block)).cloned()?;
    let key = NamedKey::Known(action.key.clone());
    let named = Named { block: narrow(block), key, named_at: None };
    let value = applier.actions.config(&applier.world, &mut applier.evaluation, &template, module, &named)?;
    if !value.is_wholly_known() {
        let detail = format!(
            "The configuration of {action} still contains unknown values at the time of its invocation. Use only \
             values that are known after its dependencies are applied."
        );
        applier
            .evaluation
            .diagnostics
            .push(Diagnostic::error("Configuration contains unknown value", detail).at(written.span));
        return None;
    }
    Some((template, value, written.span))
}

/// Processes the result of an invocation. Its errors are reported at the trigger that caused it.
pub(super) fn invoked(applier: &mut Applier<'_>, invocation: &Invocation, problems: Diagnostics) -> Outcome {
    let hooks = Arc::clone(&applier.inputs.session().hooks);
    if problems.has_errors() {
        hooks.action_errored(invocation, &problems);
    } else {
        hooks.action_complete(invocation);
        applier.recording.count_invoked();
    }
    let span = invoked_from(&applier.world, invocation);
    let span = span.or_else(|| problems.iter().find_map(|problem| problem.subject)).unwrap_or_default();
    let reported = merged(problems, &SUMMARIES).into_iter().map(|problem| problem.at(span));
    applier.report(reported.collect())
}

fn invoked_from(world: &World, invocation: &Invocation) -> Option<Span> {
    let Cause::Trigger { resource, block, entry, .. } = &invocation.cause else { return None };
    let module = world.find(&resource.module)?;
    let config = &world.static_module(module).config;
    let triggers = &config.resources.get(&resource.resource)?.lifecycle.action_triggers;
    Some(triggers.get(*block as usize)?.actions.get(*entry as usize)?.span)
}
