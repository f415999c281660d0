//! Evaluation of the blocks of managed resources for their instances.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_config::Resource;
use groma_diagnostics::Span;
use groma_hcl::Expression;
use groma_lang::Scope;
use groma_state::CheckStatus;
use groma_value::Value;

use super::conversation::{Parting, Prevention};
use super::event::Instance;
use super::ignore::{Ignore, ignored};
use super::planner::Planner;
use crate::evaluation::{Evaluation, Truth, outcome_of, repetition_of};
use crate::plan::ActionReason;
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::{InstanceScope, Repetition};

/// The evaluated block of an instance.
pub(super) struct Evaluated {
    pub(super) config: Value,
    pub(super) ignore: Ignore,
    pub(super) create_before_destroy: bool,
    pub(super) prevention: Prevention,
    pub(super) parting: Parting,
    pub(super) undecided: bool,
    pub(super) outcome: Outcome,
}

impl Evaluated {
    /// Of a block that could not be evaluated, or plays no part.
    pub(super) fn nothing(template: &Template, outcome: Outcome) -> Self {
        Self {
            config: template.schema.block.null_value(),
            ignore: Ignore::Nothing,
            create_before_destroy: false,
            prevention: Prevention::None,
            parting: Parting::Destroyed,
            undecided: false,
            outcome,
        }
    }
}

impl Planner<'_> {
    /// The lifecycle of an instance whose configuration plays no part.
    pub(super) fn unevaluated(&mut self, instance: Instance, template: &Template) -> Evaluated {
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let block = config.resources.get_index(instance.resource as usize).map(|(_, resource)| resource);
        let repetition = block.map(|block| as_written(block, self.repetition(instance))).unwrap_or_default();
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
        let lifecycle = block.map(|block| Arc::clone(&block.lifecycle));
        let prevent = lifecycle.as_ref().and_then(|lifecycle| lifecycle.prevent_destroy.as_ref());
        let prevention = prevention(prevent, self.header(instance), &mut self.evaluation, &scope);
        let destroy = lifecycle.as_ref().and_then(|lifecycle| lifecycle.destroy.as_ref());
        let parting = parting(self.evaluation.truth(destroy, &scope));
        Evaluated { prevention, parting, ..Evaluated::nothing(template, Outcome::Done) }
    }

    /// Evaluates an instance that is only refreshed. Its failed preconditions are reported all the same.
    pub(super) fn looked_at(
        &mut self,
        instance: Instance,
        address: &ResourceInstance,
        template: &Template,
    ) -> Evaluated {
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let Some((_, resource)) = config.resources.get_index(instance.resource as usize) else {
            return Evaluated::nothing(template, Outcome::Failed);
        };
        let repetition = self.repetition(instance);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
        let outcome = outcome_of(self.evaluation.preconditions(&resource.lifecycle, address, &scope));
        Evaluated { outcome, ..self.unevaluated(instance, template) }
    }

    pub(super) fn evaluate_instance(
        &mut self,
        instance: Instance,
        address: &ResourceInstance,
        template: &Template,
    ) -> Option<Evaluated> {
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let (_, resource) = config.resources.get_index(instance.resource as usize)?;
        let lifecycle = Arc::clone(&resource.lifecycle);
        let repetition = repetition_of(&self.world, instance.module, instance.resource, instance.position);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
        let status = match self.stands_for_many(instance) {
            // There is no instance yet of which they could hold.
            true => CheckStatus::Pass,
            false => self.evaluation.preconditions(&lifecycle, address, &scope),
        };
        if outcome_of(status) == Outcome::Failed {
            return None;
        }
        let value = self.evaluation.instance(&template.body, address, &scope)?;
        if let Some(problem) = template.ephemeral_misuse(&value, address) {
            self.evaluation.diagnostics.push(problem);
            return None;
        }
        let own = self.evaluation.truth(lifecycle.create_before_destroy.as_ref(), &scope);
        let prevent = lifecycle.prevent_destroy.as_ref();
        let prevention = prevention(prevent, resource.header_span, &mut self.evaluation, &scope);
        let parting = parting(self.evaluation.truth(lifecycle.destroy.as_ref(), &scope));
        let ignore = ignored(&mut self.evaluation, &lifecycle.ignore_changes, &scope);
        Some(Evaluated {
            config: value,
            ignore,
            create_before_destroy: self.creates_before_destroy(instance.module, instance.resource, own),
            prevention,
            parting,
            undecided: status == CheckStatus::Unknown,
            outcome: Outcome::Done,
        })
    }
}

/// Returns the meaning of `count` and `each` for an object of the state. If the block repeats differently by now, or
/// not at all, their values are unknown.
pub(super) fn as_written(block: &Resource, recorded: Repetition) -> Repetition {
    match recorded {
        Repetition::None if !block.is_repeated() => Repetition::None,
        Repetition::Count(_) if block.count.is_some() => recorded,
        Repetition::Each(..) if block.for_each.is_some() => recorded,
        _ => Repetition::Unknown,
    }
}

/// Evaluates a `prevent_destroy` argument of the block whose header is at `header`.
pub(super) fn prevention(
    prevent: Option<&Expression>,
    header: Span,
    evaluation: &mut Evaluation,
    scope: &dyn Scope,
) -> Prevention {
    match prevent.and_then(|prevent| Some((evaluation.truth_so_far(prevent, scope)?, prevent.span))) {
        Some((Truth::Known(true), _)) => Prevention::Forbidden(header),
        Some((Truth::Unknown, span)) => Prevention::Undecided(span),
        _ => Prevention::None,
    }
}

/// Returns the treatment that an instance's `destroy` argument asks for.
fn parting(destroy: Option<bool>) -> Parting {
    match destroy {
        Some(false) => Parting::Kept(ActionReason::ForgotBecauseLifecycleDestroyInConfig),
        _ => Parting::Destroyed,
    }
}
