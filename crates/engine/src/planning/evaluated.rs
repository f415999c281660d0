//! Evaluation of the blocks of managed resources for their instances.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_config::Resource;
use groma_diagnostics::Span;
use groma_hcl::Expression;
use groma_lang::Scope;
use groma_plan::ActionReason;
use groma_state::CheckStatus;
use groma_value::Value;

use super::deferral;
use super::event::Instance;
use super::expand;
use super::ignore::{Ignore, evaluate_ignore_changes, without_ignored};
use super::inputs::Inputs;
use super::managed;
use super::plan_call::{Disposal, Prevention};
use crate::evaluation::{Evaluation, Truth, outcome_of, repetition_of};
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::{InstanceScope, Repetition, World};

/// The evaluated block of an instance.
pub(super) struct Evaluated {
    pub(super) config: Value,
    pub(super) ignore: Ignore,
    pub(super) create_before_destroy: bool,
    pub(super) prevention: Prevention,
    pub(super) disposal: Disposal,
    pub(super) undecided: bool,
    pub(super) outcome: Outcome,
}

impl Evaluated {
    /// Returns the default for a block that could not be evaluated or is not used.
    pub(super) fn nothing(template: &Template, outcome: Outcome) -> Self {
        Self {
            config: template.schema.block.null_value(),
            ignore: Ignore::Nothing,
            create_before_destroy: false,
            prevention: Prevention::None,
            disposal: Disposal::Destroyed,
            undecided: false,
            outcome,
        }
    }
}

/// Evaluates only `prevent_destroy` and `destroy` of an instance, for a plan that does not use its configuration.
pub(super) fn unevaluated(
    world: &World,
    evaluation: &mut Evaluation,
    instance: Instance,
    template: &Template,
) -> Evaluated {
    let config = Arc::clone(&world.static_module(instance.module).config);
    let block = config.resources.get_index(instance.resource as usize).map(|(_, resource)| resource);
    // The recorded key need not fit the block any more: `count` may have become `for_each`.
    let repetition = block.map(|block| as_written(block, managed::repetition(world, instance))).unwrap_or_default();
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, instance.module, &functions).repeated(&repetition);
    let lifecycle = block.map(|block| Arc::clone(&block.lifecycle));
    let prevent = lifecycle.as_ref().and_then(|lifecycle| lifecycle.prevent_destroy.as_ref());
    let prevention = prevention(prevent, managed::header(world, instance), evaluation, &scope);
    let destroy = lifecycle.as_ref().and_then(|lifecycle| lifecycle.destroy.as_ref());
    let disposal = disposal(evaluation.truth(destroy, &scope));
    Evaluated { prevention, disposal, ..Evaluated::nothing(template, Outcome::Done) }
}

/// Evaluates the lifecycle of an instance that is only refreshed. Failed preconditions are reported, as warnings in a refresh-only plan.
pub(super) fn evaluate_refreshed(
    world: &World,
    evaluation: &mut Evaluation,
    instance: Instance,
    address: &ResourceInstance,
    template: &Template,
) -> Evaluated {
    let config = Arc::clone(&world.static_module(instance.module).config);
    let Some((_, resource)) = config.resources.get_index(instance.resource as usize) else {
        return Evaluated::nothing(template, Outcome::Failed);
    };
    let repetition = managed::repetition(world, instance);
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, instance.module, &functions).repeated(&repetition);
    // Only the lifecycle is used: a refresh needs no configuration.
    let outcome = outcome_of(evaluation.preconditions(&resource.lifecycle, address, &scope));
    Evaluated { outcome, ..unevaluated(world, evaluation, instance, template) }
}

/// Returns the configuration of an instance that is imported without a plan of changes, for providers that take values from it; null if
/// it cannot be evaluated. The problems are not reported: an object is often imported before its block is complete.
pub(super) fn evaluate_imported(
    world: &World,
    evaluation: &mut Evaluation,
    instance: Instance,
    address: &ResourceInstance,
    template: &Template,
) -> Value {
    let repetition = managed::repetition(world, instance);
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, instance.module, &functions).repeated(&repetition);
    let block = &template.schema.block;
    let Some((_, resource)) =
        world.static_module(instance.module).config.resources.get_index(instance.resource as usize)
    else {
        return block.null_value();
    };
    let reported = std::mem::take(&mut evaluation.diagnostics);
    let config = evaluation.instance(&template.body, address, &scope);
    let ignore = evaluate_ignore_changes(evaluation, &resource.lifecycle.ignore_changes, &scope);
    evaluation.diagnostics = reported;
    match config.filter(|config| template.ephemeral_misuse(config, address).is_none()) {
        Some(config) => without_ignored(block, &ignore, config),
        None => block.null_value(),
    }
}

pub(super) fn evaluate_instance(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &mut Evaluation,
    instance: Instance,
    address: &ResourceInstance,
    template: &Template,
) -> Option<Evaluated> {
    let config = Arc::clone(&world.static_module(instance.module).config);
    let (_, resource) = config.resources.get_index(instance.resource as usize)?;
    let lifecycle = Arc::clone(&resource.lifecycle);
    let repetition = repetition_of(world, instance.module, instance.resource, instance.position);
    let functions = Arc::clone(&evaluation.functions);
    let scope = InstanceScope::new(world, instance.module, &functions).repeated(&repetition);
    let status = match deferral::stands_for_many(inputs, world, instance) {
        // There is no instance yet of which they could hold.
        true => CheckStatus::Pass,
        false => evaluation.preconditions(&lifecycle, address, &scope),
    };
    if outcome_of(status) == Outcome::Failed {
        return None;
    }
    let value = evaluation.instance(&template.body, address, &scope)?;
    if let Some(problem) = template.ephemeral_misuse(&value, address) {
        evaluation.diagnostics.push(problem);
        return None;
    }
    let own = evaluation.truth(lifecycle.create_before_destroy.as_ref(), &scope);
    let prevent = lifecycle.prevent_destroy.as_ref();
    let prevention = prevention(prevent, resource.header_span, evaluation, &scope);
    // An unknown value of `destroy` means the default; a later run will know better.
    let disposal = disposal(evaluation.truth(lifecycle.destroy.as_ref(), &scope));
    let ignore = evaluate_ignore_changes(evaluation, &lifecycle.ignore_changes, &scope);
    Some(Evaluated {
        // The dependents' wish counts as well, because a dependent created first needs its dependencies first (PL-11).
        config: value,
        ignore,
        create_before_destroy: expand::creates_before_destroy(inputs, world, instance.module, instance.resource, own),
        prevention,
        disposal,
        undecided: status == CheckStatus::Unknown,
        outcome: Outcome::Done,
    })
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
fn disposal(destroy: Option<bool>) -> Disposal {
    match destroy {
        Some(false) => Disposal::Kept(ActionReason::ForgotBecauseLifecycleDestroyInConfig),
        _ => Disposal::Destroyed,
    }
}
