//! `replace_triggered_by`: a planned change elsewhere replaces an instance (PL-21).

use std::sync::Arc;

use groma_address::InstanceKey;
use groma_config::Module;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Expression, ExpressionKind, Step, Traversal};
use groma_lang::{Binding, instance_key, instance_key_of};
use groma_value::{Path, Value};

use super::event::Instance;
use super::ignore::steps_path;
use super::inputs::Inputs;
use super::managed;
use super::plan_builder::PlanBuilder;
use super::planner::Planner;
use crate::evaluation::Evaluation;
use crate::static_references;
use crate::world::{InstanceScope, ModuleId, World};

/// The object or attribute that an entry of `replace_triggered_by` names.
struct Trigger<'a> {
    resource: u32,
    key: Option<InstanceKey>,
    steps: &'a [Step],
}

/// Whether something that the instance is to be replaced after changes.
pub(super) fn triggered(planner: &mut Planner<'_>, instance: Instance) -> bool {
    let config = Arc::clone(&planner.world.static_module(instance.module).config);
    let Some((_, resource)) = config.resources.get_index(instance.resource as usize) else { return false };
    let entries = &resource.lifecycle.replace_triggered_by;
    // All entries are checked even after the first match, so that every missing attribute is reported.
    let mut triggered = false;
    for entry in entries {
        let Some(trigger) = trigger(&planner.world, &planner.evaluation, instance, entry) else { continue };
        match fires(&planner.inputs, &planner.world, &mut planner.plan, instance, &trigger) {
            Ok(fires) => triggered |= fires,
            Err(problem) => planner.evaluation.diagnostics.push(problem.within(entry.span)),
        }
    }
    triggered
}

fn trigger<'a>(
    world: &World,
    evaluation: &Evaluation,
    instance: Instance,
    entry: &'a Expression,
) -> Option<Trigger<'a>> {
    let config = &world.static_module(instance.module).config;
    match &entry.kind {
        ExpressionKind::Traversal(traversal) => plain(config, traversal),
        ExpressionKind::Index(index) => {
            let ExpressionKind::Traversal(traversal) = &index.source.kind else { return None };
            Some(Trigger { key: Some(key(world, evaluation, instance, &index.key)?), ..plain(config, traversal)? })
        }
        ExpressionKind::Relative(relative) => {
            let inner = trigger(world, evaluation, instance, &relative.source)?;
            Some(Trigger { steps: &relative.steps, ..inner })
        }
        _ => None,
    }
}

fn key(world: &World, evaluation: &Evaluation, instance: Instance, expression: &Expression) -> Option<InstanceKey> {
    let repetition = managed::repetition(world, instance);
    let scope = InstanceScope::new(world, instance.module, &evaluation.functions).repeated(&repetition);
    // Errors were reported by the checks of the configuration; an unknown key triggers nothing.
    let value = groma_lang::evaluate(expression, &scope, &mut Diagnostics::new());
    instance_key_of(&value)
}

/// Whether the object that `trigger` names changes. A missing attribute only matters when its object changes, as in Terraform.
fn fires(
    inputs: &Inputs<'_>,
    world: &World,
    plan: &mut PlanBuilder,
    instance: Instance,
    trigger: &Trigger<'_>,
) -> Result<bool, Diagnostic> {
    let number = trigger.resource;
    let Some(key) = &trigger.key else {
        if trigger.steps.is_empty() {
            // Without a key, any instance of the resource triggers the replacement.
            let data = world.module(instance.module).resources.get(number as usize);
            let instances = data.map_or(0, |data| data.expansion.len());
            return Ok(plan.is_acting(instance.module, number, instances));
        }
        return fires_at(inputs, world, plan, instance.module, number, 0, trigger.steps);
    };
    let data = world.module(instance.module).resources.get(number as usize);
    let position = data.and_then(|data| data.expansion.position(key));
    position
        .map_or(Ok(false), |position| fires_at(inputs, world, plan, instance.module, number, position, trigger.steps))
}

/// Whether `steps` lead to something in the object of an instance that changes.
fn fires_at(
    inputs: &Inputs<'_>,
    world: &World,
    plan: &PlanBuilder,
    module: ModuleId,
    number: u32,
    at: usize,
    steps: &[Step],
) -> Result<bool, Diagnostic> {
    let Some(change) = plan.acting_change_of(Instance { module, resource: number, position: at }) else {
        // A creation or a deletion of the trigger is no change of an existing object, as in Terraform.
        return Ok(false);
    };
    if let Some(template) = inputs.templates().resource(world.module(module).of, number) {
        static_references::in_block(&template.schema.block, steps)?;
    }
    let path = steps_path(steps);
    Ok(path.is_empty() || differs(&change.before, &change.after, &path))
}

fn differs(before: &Value, after: &Value, path: &Path) -> bool {
    // Only a change of sensitivity must not replace anything.
    match (before.path_get(path), after.path_get(path)) {
        (Ok(before), Ok(after)) => before.unmark_deep().0 != after.unmark_deep().0,
        (Err(_), Err(_)) => false,
        _ => true,
    }
}

fn plain<'a>(config: &Module, traversal: &'a Traversal) -> Option<Trigger<'a>> {
    let binding = config.binding(traversal)?;
    let (Binding::Resource(resource) | Binding::PrefixedResource(resource)) = binding else { return None };
    let index = binding.index(traversal);
    let steps = traversal.steps().get(binding.steps() + usize::from(index.is_some())..).unwrap_or_default();
    Some(Trigger { resource, key: index.and_then(instance_key), steps })
}
