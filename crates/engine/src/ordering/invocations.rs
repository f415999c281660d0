//! Actions that are invoked: before and after changes, and where a person asks for them.

use std::collections::HashMap;

use groma_plan::{ActionEvent, Invocation, Step};

use super::{Builder, Inputs, NONE};
use crate::config_graph::narrow;
use crate::world::ModuleId;

/// The actions before a change, one after the other. They wait for what they refer to themselves, not for what the resource
/// refers to: that may be replaced only when the old object of the change is gone, which in turn waits for them (OD-11).
pub(super) fn invocations_before(builder: &mut Builder<'_>, change: u32) -> Vec<u32> {
    let mut steps: Vec<u32> = Vec::new();
    for invocation in triggered(builder, change, |event| event.is_before()) {
        let mut requires: Vec<u32> = action_block(builder, invocation).into_iter().collect();
        // The actions of one change run in the order of their list, each after the one before.
        requires.extend(steps.last());
        steps.push(builder.step(Step::Invoke(invocation), &requires));
    }
    if !steps.is_empty() {
        builder.before.insert(change, steps.clone());
    }
    steps
}

/// The actions after the changes of a resource. Whatever else depends on the resource does not wait for them.
pub(super) fn invocations_after(builder: &mut Builder<'_>, module: ModuleId, resource: u32, requires: &[u32]) -> u32 {
    let node = builder.inputs.world.static_module(module).resource(resource as usize);
    let whole = builder.ends[module.at()][node.at()];
    // The actions after a change wait for their own instance, not for all instances of the resource.
    let others: Vec<u32> = requires.iter().copied().filter(|step| *step != whole).collect();
    let mut ends = Vec::new();
    for (_, change) in builder.live.get(&(module, resource)).cloned().unwrap_or_default() {
        let mut last = builder.makes.get(&change).copied();
        let mut first = others.clone();
        for invocation in triggered(builder, change, |event| !event.is_before()) {
            first.extend(last);
            let step = builder.step(Step::Invoke(invocation), &first);
            builder.after.entry(change).or_insert(step);
            // Only the first action waits for everything; the others follow it.
            first.clear();
            last = Some(step);
            ends.push(step);
        }
    }
    builder.join(&ends)
}

/// The actions that events of a change trigger, of those events that `counts` is true of.
fn triggered(builder: &Builder<'_>, change: u32, counts: fn(ActionEvent) -> bool) -> Vec<u32> {
    let all = builder.invoked.get(&change).map_or(&[][..], Vec::as_slice).iter().copied();
    let is_then = |at: &u32| {
        let trigger = builder.inputs.invocations.get(*at as usize).and_then(Invocation::trigger);
        trigger.is_some_and(|(_, event)| counts(event))
    };
    all.filter(is_then).collect()
}

/// The end of the block of an action that is invoked: what the action refers to is done then.
fn action_block(builder: &Builder<'_>, invocation: u32) -> Option<u32> {
    let world = builder.inputs.world;
    let action = &builder.inputs.invocations.get(invocation as usize)?.action;
    let module = world.find(&action.module)?;
    let block = world.static_module(module);
    let key = (action.type_name.clone(), action.name.clone());
    let node = block.action(block.config.actions.get_index_of(&key)?);
    Some(builder.ends[module.at()][node.at()]).filter(|step| *step != NONE)
}

/// Adds steps for actions that were requested with `-invoke`. They depend on no change.
pub(super) fn requested(builder: &mut Builder<'_>) {
    for (at, invocation) in builder.inputs.invocations.iter().enumerate() {
        if invocation.trigger().is_none() {
            let requires = action_block(builder, narrow(at));
            builder.step(Step::Invoke(narrow(at)), requires.as_slice());
        }
    }
}

/// Returns the invocations around each change, in the order of the plan.
pub(super) fn around(inputs: &Inputs<'_>) -> HashMap<u32, Vec<u32>> {
    let mut invoked: HashMap<u32, Vec<u32>> = HashMap::new();
    // Plans with actions are rare, and the map of all changes is large.
    if inputs.invocations.is_empty() {
        return invoked;
    }
    // Triggers belong to the change of the current object.
    let current = inputs.changes.iter().enumerate().filter(|(_, change)| change.deposed.is_none());
    let changes: HashMap<_, _> = current.map(|(at, change)| (&change.address, narrow(at))).collect();
    for (at, invocation) in inputs.invocations.iter().enumerate() {
        if let Some(change) = invocation.trigger().and_then(|(resource, _)| changes.get(resource)) {
            invoked.entry(*change).or_default().push(narrow(at));
        }
    }
    invoked
}
