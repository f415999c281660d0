//! Resources whose instances the plan leaves as they are, be there more or fewer than the block makes: whoever names one as a whole sees what
//! there is.

use std::collections::BTreeMap;

use groma_address::{InstanceKey, Mode as ResourceMode, ResourceInstance};
use groma_plan::Mode;
use groma_state::State;
use groma_value::Value;

use super::inputs::Inputs;
use super::planner::Planner;
use super::schedule::Schedule;
use crate::record;
use crate::world::{ModuleId, World};

/// Has the name of a resource that was expanded mean what there is, where this is not what the block says.
pub(super) fn show_what_there_is(inputs: &Inputs<'_>, world: &mut World, state: &State, module: ModuleId, at: u32) {
    if let Some(lost) = lost(inputs, world, state, module, at) {
        world.module_mut(module).resources[at as usize].show_what_there_is(lost);
    }
}

/// The instances that a resource has lost and that are looked at with those that it has, so that whoever names it sees them as they are now.
pub(super) fn lost_to_look_at(planner: &Planner<'_>, module: ModuleId, at: u32) -> Vec<ResourceInstance> {
    let place = planner.world.resource_address(module, at);
    if planner.inputs.mode() != Mode::RefreshOnly || place.resource.mode != ResourceMode::Managed {
        return Vec::new();
    }
    let is_chosen = |address: &ResourceInstance| {
        planner.inputs.targets().is_none_or(|included| included.left_over(planner.inputs.graph(), address))
    };
    // Another provider than that of the block may be configured later.
    let has_manager = |address: &ResourceInstance| {
        planner.state.provider(address, None).is_some_and(|config| planner.providers.configured(config).is_some())
    };
    let lost = lost(&planner.inputs, &planner.world, &planner.state, module, at).unwrap_or_default();
    lost.into_keys().map(|key| place.instance(key)).filter(is_chosen).filter(has_manager).collect()
}

/// Shows one of them as it is now; none where it is gone.
pub(super) fn show_lost(world: &mut World, schedule: &Schedule, address: &ResourceInstance, object: Option<Value>) {
    if let Some((module, resource)) = schedule.resource_of_orphan(address) {
        world.module_mut(module).resources[resource as usize].show_lost(&address.key, object);
    }
}

/// The objects that a resource has lost and keeps. None where all is done that the block says.
fn lost(
    inputs: &Inputs<'_>,
    world: &World,
    state: &State,
    module: ModuleId,
    at: u32,
) -> Option<BTreeMap<InstanceKey, Value>> {
    let data = world.module(module);
    let place = world.resource_address(module, at);
    let template = inputs.templates().resource(data.of, at)?;
    let is_only_looked_at = match (place.resource.mode, inputs.mode()) {
        (ResourceMode::Managed, Mode::RefreshOnly) => true,
        (ResourceMode::Managed | ResourceMode::Data, Mode::Normal | Mode::RefreshOnly) => false,
        (ResourceMode::Ephemeral | ResourceMode::List, _) | (_, Mode::Destroy) => return None,
    };
    if !is_only_looked_at && inputs.targets().is_none() {
        return None;
    }
    let is_beside = |key: &InstanceKey| {
        let included = inputs.targets();
        included.is_some_and(|included| !included.left_over(inputs.graph(), &place.instance(key.clone())))
    };
    let expansion = &data.resources[at as usize].expansion;
    let instances = state.resource(&place).into_iter().flat_map(|entry| entry.instances());
    let lost = instances.filter(|(key, _)| expansion.position(key).is_none() && (is_only_looked_at || is_beside(key)));
    let objects = lost.filter_map(|(key, instance)| {
        let object = record::decode(&template.schema, instance.current.as_ref()?)?;
        Some((key.clone(), object))
    });
    Some(objects.collect())
}
