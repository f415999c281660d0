//! The instances of a resource, whose node ends with the last of them.

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ResourceInstance};
use groma_plan::Mode;

use super::event::Instance;
use super::lost;
use super::planner::Planner;
use crate::moves::Moves;
use crate::walk::{Outcome, Visit};
use crate::world::{ModuleId, World};

/// The instances of a resource are queued; its node ends with the last of them.
pub(super) fn begin_instances(planner: &mut Planner<'_>, module: ModuleId, resource: u32, positions: Vec<usize>) {
    let lost = lost::lost_to_look_at(planner, module, resource);
    if positions.is_empty() && lost.is_empty() {
        return end_instances(planner, module, resource, Outcome::Done);
    }
    planner.schedule.begin_resource((module, resource), positions, lost);
}

/// One instance of a resource is through.
pub(super) fn end_instance(planner: &mut Planner<'_>, instance: Instance, outcome: Outcome) {
    end_one(planner, (instance.module, instance.resource), outcome);
}

/// One that the block has lost is through, if it is one that is looked at so early.
pub(super) fn end_lost(planner: &mut Planner<'_>, address: &ResourceInstance, outcome: Outcome) {
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
    if planner.inputs.mode() == Mode::RefreshOnly && outcome == Outcome::Done {
        keep_what_is_there(&mut planner.world, &mut planner.moves, module, resource);
    }
    let visit = resource_visit(&planner.world, module, resource);
    planner.end(visit, outcome);
}

/// Who only looks sees what there is, not what is still to be made; declared is that all the same.
fn keep_what_is_there(world: &mut World, moves: &mut Moves, module: ModuleId, resource: u32) {
    let config = Arc::clone(&world.static_module(module).config);
    let Some((address, _)) = config.resources.get_index(resource as usize) else { return };
    if address.mode != ResourceMode::Managed {
        return;
    }
    if moves.name_instances_of(address) {
        for position in 0..world.module(module).resources[resource as usize].expansion.len() {
            moves.note_declared(&world.instance_address(module, resource, position));
        }
    }
    world.module_mut(module).resources[resource as usize].keep_settled();
}

/// The node of a resource of a module instance.
pub(super) fn resource_visit(world: &World, module: ModuleId, resource: u32) -> Visit {
    Visit { module, node: world.static_module(module).resource(resource as usize) }
}
