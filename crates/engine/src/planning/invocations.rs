//! Which actions the planned changes have invoked, and with what.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_provider::{ActionSubject, Checked};

use super::event::{Event, Instance, PlannedInvocations};
use super::planner::Planner;
use crate::action_blocks::{Named, named};
use crate::client::capabilities;
use crate::invocation::{ActionEvent, ActionInstance, Cause, Invocation};
use crate::plan::Mode;
use crate::templates::Template;
use crate::walk::{Outcome, Visit};
use crate::world::{InstanceScope, ModuleId};

/// An invocation before its provider was asked.
struct Draft {
    invocation: Invocation,
    template: Arc<Template>,
    provider: Arc<Checked>,
    span: Span,
}

impl Planner<'_> {
    /// Plans what the changes of a resource trigger.
    pub(super) async fn triggered_invocations(&mut self, visit: Visit, resource: u32) {
        if self.options.mode != Mode::Normal || self.options.invoke.is_some() {
            return self.end(visit, Outcome::Done);
        }
        let mut drafts = Vec::new();
        for position in 0..self.world.module(visit.module).resources[resource as usize].expansion.len() {
            let instance = Instance { module: visit.module, resource, position };
            if self.triggered_by(instance, &mut drafts).is_none() {
                return self.end(visit, Outcome::Failed);
            }
        }
        self.ask(visit, drafts).await;
    }

    /// Plans what a person asks for.
    pub(super) async fn requested_invocations(&mut self, visit: Visit, block: u32) {
        let mut drafts = Vec::new();
        if self.requests(visit.module, block, &mut drafts).is_none() {
            return self.end(visit, Outcome::Failed);
        }
        self.ask(visit, drafts).await;
    }

    fn requests(&mut self, module: ModuleId, block: u32, drafts: &mut Vec<Draft>) -> Option<()> {
        let Some(target) = &self.options.invoke else { return Some(()) };
        let config = Arc::clone(&self.world.static_module(module).config);
        let (_, action) = config.actions.get_index(block as usize)?;
        let is_meant = self.world.module(module).address == target.module
            && action.type_name == target.type_name
            && action.name == target.name;
        if !is_meant {
            return Some(());
        }
        let keys = match &target.key {
            Some(key) => vec![key.clone()],
            None => self.actions.keys(&self.world, &mut self.evaluation, module, block)?,
        };
        for key in keys {
            drafts.push(self.draft(module, &Named { block, key }, Cause::Request)?);
        }
        Some(())
    }

    /// None after an error, which is noted.
    fn triggered_by(&mut self, instance: Instance, drafts: &mut Vec<Draft>) -> Option<()> {
        let Some(change) = self.change_of.get(&instance).and_then(|at| self.changes.get(*at)) else { return Some(()) };
        let (action, resource) = (change.action, change.address.clone());
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let (_, block) = config.resources.get_index(instance.resource as usize)?;
        let repetition = self.repetition(instance);
        let functions = Arc::clone(&self.evaluation.functions);
        for (at, trigger) in block.lifecycle.action_triggers.iter().enumerate() {
            let keywords = trigger.events.iter().filter_map(|event| event.as_traversal());
            let mut events: Vec<ActionEvent> = keywords
                .filter_map(|keyword| ActionEvent::of_keyword(&keyword.root.name))
                .filter(|event| action.has(*event))
                .collect();
            events.sort_unstable();
            events.dedup();
            if events.is_empty() {
                continue;
            }
            for (entry, element) in trigger.actions.iter().enumerate() {
                let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
                if trigger.condition.is_some() && !self.evaluation.truth(trigger.condition.as_ref(), &scope)? {
                    break;
                }
                let named = named(element, &config, &scope, &mut self.evaluation)?;
                for event in &events {
                    let (block, entry) = (crate::config_graph::narrow(at), crate::config_graph::narrow(entry));
                    let cause = Cause::Trigger { resource: resource.clone(), event: *event, block, entry };
                    drafts.push(self.draft(instance.module, &named, cause)?);
                }
            }
        }
        Some(())
    }

    fn draft(&mut self, module: ModuleId, named: &Named, cause: Cause) -> Option<Draft> {
        let index = self.world.module(module).of;
        let template = self.templates.action(index, named.block).cloned()?;
        let config = Arc::clone(&self.world.static_module(module).config);
        let (_, action) = config.actions.get_index(named.block as usize)?;
        let value = self.actions.config(&self.world, &mut self.evaluation, &template, module, named)?;
        let Some(provider) = self.providers.configured(&template.provider).cloned() else {
            if !self.evaluation.diagnostics.has_errors() {
                let detail = format!("{} is needed for an action, but it was not configured.", template.provider);
                let problem = Diagnostic::error("Provider configuration not present", detail).at(action.span);
                self.evaluation.diagnostics.push(problem);
            }
            return None;
        };
        let invocation = Invocation {
            action: ActionInstance {
                module: self.world.module(module).address.clone(),
                type_name: action.type_name.clone(),
                name: action.name.clone(),
                key: named.key.clone(),
            },
            cause,
            provider: (*template.provider).clone(),
            schema: Arc::clone(&template.schema),
            config: value,
        };
        Some(Draft { invocation, template, provider, span: action.span })
    }

    async fn ask(&mut self, visit: Visit, drafts: Vec<Draft>) {
        if drafts.is_empty() {
            return self.end(visit, Outcome::Done);
        }
        self.talk(async move {
            let mut planned =
                PlannedInvocations { invocations: Vec::with_capacity(drafts.len()), diagnostics: Diagnostics::new() };
            for Draft { invocation, template, provider, span } in drafts {
                let subject = ActionSubject { type_name: &invocation.action.type_name, body: &template.body, span };
                let (_, problems) = provider.plan_action(&subject, &invocation.config, capabilities()).await;
                planned.diagnostics.append(problems);
                planned.invocations.push(invocation);
            }
            Event::Invocations(visit, Box::new(planned))
        })
        .await;
    }

    /// That what a person asks for is not there.
    pub(super) fn report_unmet_request(&mut self) {
        let Some(target) = self.options.invoke.as_ref().filter(|_| self.invocations.is_empty()) else { return };
        let action = ActionInstance {
            module: target.module.clone(),
            type_name: target.type_name.clone(),
            name: target.name.clone(),
            key: target.key.clone().unwrap_or(groma_address::InstanceKey::None),
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
        self.end(visit, if failed { Outcome::Failed } else { Outcome::Done });
    }
}
