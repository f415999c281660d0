//! Values that are known before the first step, because the plan does not change them.

use std::collections::{BTreeMap, HashMap, HashSet};

use groma_address::{InstanceKey, Mode as ResourceMode, ResourceInstance};
use groma_plan::{Action, DeferredChange, Mode, ResourceChange};
use groma_state::InstanceView;
use groma_value::Value;

use super::inputs::Inputs;
use super::recording::Recording;
use crate::record;
use crate::world::{ModuleId, World};

/// Sets the values of everything that the plan does not change.
pub(super) fn set_known_values(
    inputs: &Inputs<'_>,
    world: &mut World,
    recording: &Recording,
    deferred: &[DeferredChange],
) {
    for (at, change) in (0_u32..).zip(inputs.changes()) {
        // A deposed object is no value of its instance: references mean the current one.
        if change.deposed.is_some() {
            continue;
        }
        let value =
            // Until its step has run, a deleted object still exists, for example for the provider of its users.
            if matches!(change.action, Action::Delete | Action::Forget) { &change.before } else { &change.after };
        if let Some((module, resource, position)) = inputs.instance(at) {
            let data = &mut world.module_mut(module).resources[resource as usize];
            data.settle(position, value.clone());
        }
    }
    set_data(inputs, world, recording);
    // A deferred change has no step; references to it use the known parts of its planned value.
    for DeferredChange { change, .. } in deferred {
        if let Some((module, resource, position)) = world.locate(&change.address)
            && change.deposed.is_none()
            // An object whose deletion is deferred keeps its recorded value.
            && !change.after.is_null()
        {
            world.module_mut(module).resources[resource as usize].settle(position, change.after.clone());
        }
    }
}

/// Instances beside those that a partial plan is about are as the state has them.
pub(super) fn set_siblings(inputs: &Inputs<'_>, world: &mut World, recording: &Recording) {
    let blocks = inputs.changes().iter().filter_map(|change| world.locate_block(&change.address));
    let resources: HashSet<(ModuleId, u32)> = blocks.collect();
    set_recorded_values(inputs, world, recording, |_| true, |module, resource| resources.contains(&(module, resource)));
}

/// Makes references to a resource see its existing instances where the plan leaves them as they are.
pub(super) fn show_existing_instances(inputs: &Inputs<'_>, world: &mut World, recording: &Recording) {
    let ends = |action| matches!(action, Action::Delete | Action::Forget);
    let gone = |change: &&ResourceChange| change.deposed.is_none() && ends(change.action);
    let gone: HashSet<&ResourceInstance> = inputs.changes().iter().filter(gone).map(|change| &change.address).collect();
    let blocks = inputs.changes().iter().filter_map(|change| world.locate_block(&change.address));
    let mut orphaned: HashMap<(ModuleId, u32), BTreeMap<InstanceKey, Value>> =
        blocks.map(|at| (at, BTreeMap::new())).collect();
    for view in recording.state().iter() {
        let address = view.address();
        let Some((module, resource)) = world.locate_block(&address) else { continue };
        let orphaned = orphaned.entry((module, resource)).or_default();
        let template = inputs.templates().resource(world.module(module).of, resource);
        if world.locate(&address).is_none()
            // A surplus instance that this plan deletes is not shown, as in a complete plan.
            && !gone.contains(&address)
            && let (Some(record), Some(template)) = (&view.record.current, template)
            && let Some(object) = record::decode(&template.schema, record)
        {
            orphaned.insert(address.key, object);
        }
    }
    for ((module, resource), orphaned) in orphaned {
        world.module_mut(module).resources[resource as usize].show_existing_instances(orphaned);
    }
}

/// Data that was read while planning is in the state.
fn set_data(inputs: &Inputs<'_>, world: &mut World, recording: &Recording) {
    // Where nothing is changed, there is no change either that has the value of an object.
    let only_reads = inputs.mode() == Mode::RefreshOnly;
    set_recorded_values(
        inputs,
        world,
        recording,
        |view| only_reads || view.resource.resource.mode != ResourceMode::Managed,
        |_, _| true,
    );
}

/// Objects of the state, of those instances that are meant, in the resources that are.
fn set_recorded_values(
    inputs: &Inputs<'_>,
    world: &mut World,
    recording: &Recording,
    is_meant: impl Fn(&InstanceView<'_>) -> bool,
    is_in: impl Fn(ModuleId, u32) -> bool,
) {
    // Collected first, because the world cannot be changed while it is used for the lookup.
    let mut found = Vec::new();
    for view in recording.state().iter().filter(is_meant) {
        let Some((module, resource, position)) = world.locate(&view.address()) else { continue };
        if is_in(module, resource)
            && let Some(record) = &view.record.current
            && let Some(template) = inputs.templates().resource(world.module(module).of, resource)
            && let Some(value) = record::decode(&template.schema, record)
        {
            found.push((module, resource, position, value));
        }
    }
    for (module, resource, position, value) in found {
        world.module_mut(module).resources[resource as usize].settle(position, value);
    }
}
