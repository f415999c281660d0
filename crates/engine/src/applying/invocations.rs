//! Invocation of actions while applying.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_provider::ActionSubject;
use groma_value::Value;

use super::applier::Applier;
use super::event::Event;
use crate::action_blocks::{Named, NamedKey};
use crate::config_graph::narrow;
use crate::invocation::{Cause, Invocation};
use crate::invocation_problems::{Summaries, gathered};
use crate::templates::Template;
use crate::walk::Outcome;

const SUMMARIES: Summaries = Summaries { error: "Error when invoking action", warning: "Warning when invoking action" };

impl Applier<'_> {
    /// Starts the invocation of an action.
    pub(super) async fn invoke(&mut self, step: u32, invocation: u32) {
        let Some(invocation) = self.invocations.get(invocation as usize).cloned() else {
            return self.end(step, Outcome::Failed);
        };
        let Some((template, config, span)) = self.action_config(&invocation) else {
            return self.end(step, Outcome::Failed);
        };
        let provider = match self.providers.needed(&invocation.provider, &invocation.action, span) {
            Ok(provider) => provider,
            Err(problem) => {
                self.evaluation.diagnostics.push(problem);
                return self.end(step, Outcome::Failed);
            }
        };
        let hooks = Arc::clone(&self.session.hooks);
        let talk = async move {
            hooks.action_start(&invocation);
            let told = Arc::clone(&invocation);
            let progress = Arc::new(move |message: &str| hooks.action_progress(&told, message));
            let subject = ActionSubject { type_name: &invocation.action.type_name, body: &template.body, span };
            let problems = provider.invoke_action(&subject, &config, progress).await;
            Event::Invoked(invocation, problems)
        };
        self.talk(step, talk).await;
    }

    fn action_config(&mut self, invocation: &Invocation) -> Option<(Arc<Template>, Value, Span)> {
        let action = &invocation.action;
        let module = self.world.find(&action.module)?;
        let config = Arc::clone(&self.world.static_module(module).config);
        let (block, _, written) = config.actions.get_full(&(action.type_name.clone(), action.name.clone()))?;
        let template = self.prepared.templates.action(self.world.module(module).of, narrow(block)).cloned()?;
        let key = NamedKey::Known(action.key.clone());
        let named = Named { block: narrow(block), key, named_at: None };
        let value = self.actions.config(&self.world, &mut self.evaluation, &template, module, &named)?;
        if !value.is_wholly_known() {
            let detail = format!(
                "The configuration of {action} still holds values that are not known when it is to be invoked. Use only what is known \
                 once the objects that it stands on are there."
            );
            self.evaluation
                .diagnostics
                .push(Diagnostic::error("Configuration contains unknown value", detail).at(written.span));
            return None;
        }
        Some((template, value, written.span))
    }

    /// Takes in how an invocation ended. Its problems are about what has it invoked.
    pub(super) fn invoked(&mut self, invocation: &Invocation, problems: Diagnostics) -> Outcome {
        let hooks = Arc::clone(&self.session.hooks);
        if problems.has_errors() {
            hooks.action_errored(invocation, &problems);
        } else {
            hooks.action_complete(invocation);
            self.done.invoked += 1;
        }
        let span = self.invoked_from(invocation);
        let span = span.or_else(|| problems.iter().find_map(|problem| problem.subject)).unwrap_or_default();
        let told = gathered(problems, &SUMMARIES).into_iter().map(|problem| problem.at(span));
        self.report(told.collect())
    }

    fn invoked_from(&self, invocation: &Invocation) -> Option<Span> {
        let Cause::Trigger { resource, block, entry, .. } = &invocation.cause else { return None };
        let module = self.world.find(&resource.module)?;
        let config = &self.world.static_module(module).config;
        let triggers = &config.resources.get(&resource.resource)?.lifecycle.action_triggers;
        Some(triggers.get(*block as usize)?.actions.get(*entry as usize)?.span)
    }
}
