//! The instances of a resource: its node ends with the last of them, and references see the existing ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_address::{InstanceKey, Mode as ResourceMode, ResourceInstance};
use groma_plan::Mode;
use groma_state::State;
use groma_value::Value;

use super::event::Instance;
use super::inputs::Inputs;
use super::planner::Planner;
use super::schedule::Schedule;
use crate::moves::Moves;
use crate::record;
use crate::walk::{Outcome, Visit};
use crate::world::{ModuleId, World};

/// Queues the instances of a resource, whose node ends with the last of them.
pub(super) fn begin_instances(planner: &mut Planner<'_>, module: ModuleId, resource: u32, positions: Vec<usize>) {
    let orphaned = orphans_to_refresh(planner, module, resource);
    // A resource without instances ends at once, or nothing would ever end it.
    if positions.is_empty() && orphaned.is_empty() {
        return end_instances(planner, module, resource, Outcome::Done);
    }
    planner.schedule.begin_resource((module, resource), positions, orphaned);
}

/// Ends one instance of a resource.
pub(super) fn end_instance(planner: &mut Planner<'_>, instance: Instance, outcome: Outcome) {
    end_one(planner, (instance.module, instance.resource), outcome);
}

/// Ends an orphan that was refreshed together with the instances of its resource.
pub(super) fn end_instance_at(planner: &mut Planner<'_>, address: &ResourceInstance, outcome: Outcome) {
    if let Some(of) = planner.schedule.resource_of_orphan(address) {
        end_one(planner, of, outcome);
    }
}

fn end_one(planner: &mut Planner<'_>, key: (ModuleId, u32), outcome: Outcome) {
    if let Some(outcome) = planner.schedule.end_instance(key, outcome) {
        end_instances(planner, key.0, key.1, outcome);
    }
}

fn end_instances(planner: &mut Planner<'_>, module: ModuleId, resource: u32, outcome: Outcome) {
    // A refresh-only plan changes no instances, so references must mean the existing ones.
    if planner.inputs.mode() == Mode::RefreshOnly && outcome == Outcome::Done {
        keep_existing_instances(&mut planner.world, &mut planner.moves, module, resource);
    }
    let visit = resource_visit(&planner.world, module, resource);
    planner.end(visit, outcome);
}

/// Makes references to a resource see its existing instances instead of the declared ones, because a refresh-only plan changes none.
fn keep_existing_instances(world: &mut World, moves: &mut Moves, module: ModuleId, resource: u32) {
    let config = Arc::clone(&world.static_module(module).config);
    let Some((address, _)) = config.resources.get_index(resource as usize) else { return };
    if address.mode != ResourceMode::Managed {
        return;
    }
    if moves.names_instances_of(address) {
        for position in 0..world.module(module).resources[resource as usize].expansion.len() {
            moves.note_declared(&world.instance_address(module, resource, position));
        }
    }
    world.module_mut(module).resources[resource as usize].keep_expanded();
}

/// The node of a resource of a module instance.
pub(super) fn resource_visit(world: &World, module: ModuleId, resource: u32) -> Visit {
    Visit { module, node: world.static_module(module).resource(resource as usize) }
}

/// Makes references to an expanded resource see its existing instances instead of the declared ones.
pub(super) fn show_existing_instances(
    inputs: &Inputs<'_>,
    world: &mut World,
    state: &State,
    module: ModuleId,
    at: u32,
) {
    if let Some(orphaned) = orphaned(inputs, world, state, module, at) {
        world.module_mut(module).resources[at as usize].show_existing_instances(orphaned);
    }
}

/// Returns the orphaned instances that are refreshed together with the declared ones, so that references see their current objects.
pub(super) fn orphans_to_refresh(planner: &Planner<'_>, module: ModuleId, at: u32) -> Vec<ResourceInstance> {
    let node_ref = planner.world.resource_address(module, at);
    if planner.inputs.mode() != Mode::RefreshOnly || node_ref.resource.mode != ResourceMode::Managed {
        return Vec::new();
    }
    let is_chosen = |address: &ResourceInstance| {
        planner.inputs.targets().is_none_or(|included| included.includes_orphan(planner.inputs.graph(), address))
    };
    // An orphan whose provider is not configured yet is refreshed later with the other orphans.
    let has_manager = |address: &ResourceInstance| {
        planner.state.provider(address, None).is_some_and(|config| planner.providers.configured(config).is_some())
    };
    let orphaned = orphaned(&planner.inputs, &planner.world, &planner.state, module, at).unwrap_or_default();
    orphaned.into_keys().map(|key| node_ref.instance(key)).filter(is_chosen).filter(has_manager).collect()
}

/// Makes references see the refreshed object of an orphan; `None` if it no longer exists.
pub(super) fn show_orphans(world: &mut World, schedule: &Schedule, address: &ResourceInstance, object: Option<Value>) {
    if let Some((module, resource)) = schedule.resource_of_orphan(address) {
        world.module_mut(module).resources[resource as usize].show_orphans(&address.key, object);
    }
}

/// Returns the objects of undeclared instances that references must still see, by key; `None` if the plan deletes them all.
fn orphaned(
    inputs: &Inputs<'_>,
    world: &World,
    state: &State,
    module: ModuleId,
    at: u32,
) -> Option<BTreeMap<InstanceKey, Value>> {
    let data = world.module(module);
    let node_ref = world.resource_address(module, at);
    let template = inputs.templates().resource(data.of, at)?;
    let is_only_refreshed = match (node_ref.resource.mode, inputs.mode()) {
        (ResourceMode::Managed, Mode::RefreshOnly) => true,
        (ResourceMode::Managed | ResourceMode::Data, Mode::Normal | Mode::RefreshOnly) => false,
        (ResourceMode::Ephemeral | ResourceMode::List, _) | (_, Mode::Destroy) => return None,
    };
    // A complete plan deletes orphans, so references mean only the declared instances.
    if !is_only_refreshed && inputs.targets().is_none() {
        return None;
    }
    let is_sibling = |key: &InstanceKey| {
        let included = inputs.targets();
        included.is_some_and(|included| !included.includes_orphan(inputs.graph(), &node_ref.instance(key.clone())))
    };
    let expansion = &data.resources[at as usize].expansion;
    let instances = state.resource(&node_ref).into_iter().flat_map(|entry| entry.instances());
    let orphaned =
        instances.filter(|(key, _)| expansion.position(key).is_none() && (is_only_refreshed || is_sibling(key)));
    let objects = orphaned.filter_map(|(key, instance)| {
        let object = record::decode(&template.schema, instance.current.as_ref()?)?;
        Some((key.clone(), object))
    });
    Some(objects.collect())
}
