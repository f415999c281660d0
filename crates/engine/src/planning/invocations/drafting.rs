//! Invocations on their way into the plan: what each is invoked with, and the question to its provider.

use std::sync::Arc;

use groma_address::{InstanceKey, ProviderConfig};
use groma_diagnostics::Span;
use groma_provider::{Checked, kept_action_config};

use crate::action_blocks::{Named, NamedKey};
use crate::deferral::Which;
use crate::invocation::{ActionInstance, Cause, Invocation};
use crate::options::Deferral;
use crate::plan::DeferralReason;
use crate::planning::drafts::{Ask, InvocationDraft, PlannedInvocations, asked};
use crate::planning::event::Event;
use crate::planning::planner::Planner;
use crate::templates::Template;
use crate::walk::{Outcome, Visit};
use crate::world::ModuleId;

impl Planner<'_> {
    /// None after an error, which is noted.
    pub(super) fn draft(
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

    /// Returns the reason for deferring an action, as far as it is known before its provider is asked.
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

    /// Asks about what a node of the graph has invoked.
    pub(super) async fn ask(&mut self, visit: Visit, drafts: Vec<InvocationDraft>) {
        if drafts.is_empty() {
            return self.end(visit, Outcome::Done);
        }
        let deferral = self.options.deferral;
        self.talk(async move { Event::Invocations(visit, Box::new(asked(drafts, deferral).await)) }).await;
    }

    pub(in crate::planning) fn invocations_planned(&mut self, visit: Visit, planned: PlannedInvocations) {
        let failed = planned.diagnostics.has_errors();
        self.evaluation.diagnostics.append(planned.diagnostics);
        self.invocations.extend(planned.invocations);
        self.deferred_invocations.extend(planned.deferred);
        self.end(visit, if failed { Outcome::Failed } else { Outcome::Done });
    }
}
