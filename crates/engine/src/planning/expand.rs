//! Module calls and resources become instances.

use std::sync::Arc;

use groma_address::{InstanceKey, Mode as ResourceMode, Name};
use groma_config::Resource;
use groma_diagnostics::Diagnostics;
use groma_hcl::ExpressionKind;
use groma_lang::Scope;
use groma_plan::Mode;
use groma_state::State;
use groma_value::Value;

use super::data;
use super::inputs::Inputs;
use super::instances;
use super::pending::loses_instances;
use super::planner::Planner;
use crate::checks::{Checkable, Verdict};
use crate::config_graph::narrow;
use crate::evaluation::Evaluation;
use crate::options::Deferral;
use crate::repetition::{Arguments, expand_or_defer};
use crate::walk::{Outcome, Visit};
use crate::world::{Expansion, InstanceScope, ModuleId, Repetition, World};

pub(super) fn expand_call(planner: &mut Planner<'_>, visit: Visit, at: u32) {
    let config = Arc::clone(&planner.world.static_module(visit.module).config);
    let Some((_, call)) = config.calls.get_index(at as usize) else { return planner.end(visit, Outcome::Failed) };
    let repeats = call.is_repeated();
    let index = planner.world.module(visit.module).of;
    let destroy_scope =
        // The repetition of a call that no deletion depends on is taken from the state, so it need not be known.
        planner.inputs.destroy_needs().filter(|destroy_scope| repeats && !destroy_scope.needs(index, visit.node));
    if let Some(destroy_scope) = destroy_scope {
        let address = &planner.world.module(visit.module).address;
        let expansion = destroy_scope.recorded_call(address, call);
        return expanded_call(planner, visit, at, expansion);
    }
    let arguments = Arguments::of_call(call);
    let functions = Arc::clone(&planner.evaluation.functions);
    let scope = InstanceScope::new(&planner.world, visit.module, &functions);
    let deferral = repetition_deferral(&planner.inputs);
    let Some(expansion) = expand_or_defer(arguments, deferral, &scope, &mut planner.evaluation.diagnostics) else {
        return planner.end(visit, Outcome::Failed);
    };
    expanded_call(planner, visit, at, expansion);
}

fn expanded_call(planner: &mut Planner<'_>, visit: Visit, at: u32, expansion: Expansion) {
    let instances = planner.world.expand_call(visit.module, at, expansion);
    // An unknown number of module instances defers everything in the module (PL-29).
    let is_open = planner.world.module(visit.module).calls[at as usize].expansion == Expansion::Unknown;
    planner.schedule.expand_call(&planner.world, visit.module, at, &instances);
    planner.end(visit, if is_open { Outcome::Deferred } else { Outcome::Done });
}

pub(super) fn expand_resource(planner: &mut Planner<'_>, visit: Visit, at: u32) {
    let config = Arc::clone(&planner.world.static_module(visit.module).config);
    let Some((_, resource)) = config.resources.get_index(at as usize) else {
        return planner.end(visit, Outcome::Failed);
    };
    // The schema could not be loaded or the block is invalid, which has been reported.
    if planner.inputs.template(&planner.world, visit.module, at).is_none() {
        return planner.end(visit, Outcome::Failed);
    }
    let arguments = Arguments::of_resource(resource);
    let functions = Arc::clone(&planner.evaluation.functions);
    let scope = InstanceScope::new(&planner.world, visit.module, &functions);
    let expansion = match planner.inputs.mode() {
        // What is to be destroyed is what the state has, whatever the configuration says now.
        Mode::Destroy if resource.address.mode != ResourceMode::Ephemeral => {
            let wanted =
                data::expansion_of_needed_data(&planner.inputs, &planner.world, &planner.evaluation, visit, resource);
            wanted.unwrap_or_else(|| {
                let recorded = recorded_expansion(&planner.world, &planner.state, visit.module, at);
                // `prevent_destroy` may refer to `each.value`, which the state does not store.
                if prevention_needs_elements(resource) { with_elements(recorded, arguments, &scope) } else { recorded }
            })
        }
        Mode::Normal | Mode::RefreshOnly | Mode::Destroy => {
            let deferral = repetition_deferral(&planner.inputs);
            match expand_or_defer(arguments, deferral, &scope, &mut planner.evaluation.diagnostics) {
                Some(expansion) => expansion,
                None => return planner.end(visit, Outcome::Failed),
            }
        }
    };
    planner.world.module_mut(visit.module).resources[at as usize].expand(expansion);
    // Before instances begin, because their evaluation may refer to the resource as a whole.
    instances::show_existing_instances(&planner.inputs, &mut planner.world, &planner.state, visit.module, at);
    // Deletions of surplus instances are changes, too, that data sources must wait for (PL-07).
    if loses_instances(&planner.inputs, &planner.world, &planner.state, visit.module, at) {
        planner.world.module_mut(visit.module).resources[at as usize].pending = true;
    }
    let positions = planned_positions(&planner.inputs, &planner.world, visit, at);
    if planner.inputs.targets().is_some() {
        // A destroy plan reads the recorded values of all instances, not only of those outside of the target set.
        let planned: &[usize] = if planner.inputs.mode() == Mode::Destroy { &[] } else { &positions };
        settle_untargeted(&planner.inputs, &mut planner.world, &planner.state, visit.module, at, planned);
    }
    let has_conditions = !resource.lifecycle.preconditions.is_empty() || !resource.lifecycle.postconditions.is_empty();
    if has_conditions && planner.inputs.mode() != Mode::Destroy {
        report_undecided(&planner.world, &mut planner.evaluation, visit.module, at, &positions);
    }
    instances::begin_instances(planner, visit.module, at, positions);
}

/// Reports the conditions of instances outside of the target set as unknown.
fn report_undecided(world: &World, evaluation: &mut Evaluation, module: ModuleId, at: u32, planned: &[usize]) {
    for position in 0..world.module(module).resources[at as usize].expansion.len() {
        // Positions come in order.
        if planned.binary_search(&position).is_err() {
            let address = world.instance_address(module, at, position);
            let block = address.config_resource().to_string();
            evaluation.checks.report(Checkable::Resource, block, address.to_string(), &Verdict::Unknown);
        }
    }
}

/// Gives instances outside of the target set their recorded values, because outputs and provider configurations may refer to them.
fn settle_untargeted(
    inputs: &Inputs<'_>,
    world: &mut World,
    state: &State,
    module: ModuleId,
    at: u32,
    planned: &[usize],
) {
    let Some(template) = inputs.template(world, module, at) else { return };
    for position in 0..world.module(module).resources[at as usize].expansion.len() {
        // Positions come in order.
        if planned.binary_search(&position).is_ok() {
            continue;
        }
        let address = world.instance_address(module, at, position);
        let record = state.object(&address, None);
        if let Some(value) = record.and_then(|record| crate::record::decode(&template.schema, record)) {
            world.module_mut(module).resources[at as usize].settle(position, value);
        }
    }
}

/// Returns the positions of the instances to plan: all, or with targets those in the target set.
fn planned_positions(inputs: &Inputs<'_>, world: &World, visit: Visit, at: u32) -> Vec<usize> {
    let data = &world.module(visit.module).resources[at as usize];
    let all = 0..data.expansion.len();
    match inputs.targets() {
        None => all.collect(),
        // The keys are unknown, so instances cannot be matched against the targets.
        Some(_) if data.expansion == Expansion::Unknown => all.collect(),
        Some(included) => {
            let index = world.module(visit.module).of;
            let chosen = |position: &usize| {
                let address = world.instance_address(visit.module, at, *position);
                let is_recorded = matches!(address.resource.mode, ResourceMode::Managed | ResourceMode::Data);
                let is_read = is_recorded && included.reads(index, visit.node, &address);
                is_read || included.instance(index, visit.node, &address)
            };
            all.filter(chosen).collect()
        }
    }
}

/// Returns the treatment of unknown repetition. A destroy plan takes the instances from the state.
fn repetition_deferral(inputs: &Inputs<'_>) -> Deferral {
    if inputs.mode() == Mode::Destroy { Deferral::Refused } else { inputs.deferral() }
}

/// Whether replacements of an instance create first: its own wish, or that of something that depends on it (PL-11).
pub(super) fn creates_before_destroy(
    inputs: &Inputs<'_>,
    world: &World,
    module: ModuleId,
    at: u32,
    own: Option<bool>,
) -> bool {
    let index = world.module(module).of;
    let node = world.static_module(module).resource(at as usize);
    // Forced creation first comes from the configuration graph and is independent of values (OD-09).
    own.unwrap_or(false) || inputs.is_forced_to_create_first(index, node)
}

/// Returns the index of the resource at `address` in a module instance.
pub(super) fn resource_number(world: &World, module: ModuleId, address: &groma_address::Resource) -> Option<u32> {
    world.static_module(module).config.resources.get_index_of(address).map(narrow)
}

/// Whether `prevent_destroy` may refer to the elements of `for_each`.
fn prevention_needs_elements(resource: &Resource) -> bool {
    let prevent = resource.for_each.as_ref().and(resource.lifecycle.prevent_destroy.as_ref());
    prevent.is_some_and(|prevent| !matches!(prevent.kind, ExpressionKind::Bool(_)))
}

/// Returns the recorded instances with the `for_each` elements of the configuration, as far as these can be evaluated.
fn with_elements(recorded: Expansion, arguments: Arguments<'_>, scope: &dyn Scope) -> Expansion {
    // Blocks that cannot be evaluated must not prevent destruction.
    let mut problems = Diagnostics::new();
    let configured = expand_or_defer(arguments, Deferral::Refused, scope, &mut problems);
    let (Expansion::ForEach(keys), Some(configured @ Expansion::ForEach(_))) = (&recorded, configured) else {
        return recorded;
    };
    let element = |(key, value): &(Name, Value)| {
        let position = configured.position(&InstanceKey::String(key.clone()));
        match position.map(|position| configured.repetition(position)) {
            Some(Repetition::Each(key, value)) => (key, value),
            _ => (key.clone(), value.clone()),
        }
    };
    Expansion::ForEach(keys.iter().map(element).collect())
}

/// Returns the recorded instances of a resource as an expansion.
pub(crate) fn recorded_expansion(world: &World, state: &State, module: ModuleId, at: u32) -> Expansion {
    let data = world.module(module);
    let config = &world.static_module(module).config;
    let Some((address, resource)) = config.resources.get_index(at as usize) else { return Expansion::Absent };
    let absolute = address.absolute(data.address.clone());
    let Some(entry) = state.resource(&absolute) else {
        return match (&resource.count, &resource.for_each) {
            (Some(_), _) => Expansion::Count(0),
            (None, Some(_)) => Expansion::ForEach(Arc::from([])),
            // A missing object has no value; nothing that is destroyed refers to it.
            (None, None) => Expansion::Single,
        };
    };
    let mut elements = Vec::new();
    let mut numbers = Vec::new();
    for (key, _) in entry.instances() {
        match key {
            // One key decides the shape: a state may mix keys after the repetition of a block was changed.
            InstanceKey::None => return Expansion::Single,
            InstanceKey::Int(index) => numbers.push(*index),
            InstanceKey::String(key) => elements.push((key.clone(), Value::DYNAMIC)),
        }
    }
    match &numbers[..] {
        [] => Expansion::ForEach(elements.into()),
        numbers => Expansion::of_recorded(numbers),
    }
}
