//! Actions that are invoked: before and after changes, and where a person asks for them.

use std::collections::HashMap;

use super::super::Step;
use super::{Builder, Inputs, NONE};
use crate::config_graph::narrow;
use crate::invocation::{ActionEvent, Invocation};
use crate::world::ModuleId;

impl Builder<'_> {
    /// The actions before a change, one after the other. They wait for what they refer to themselves, not for what the resource
    /// refers to: that may be replaced only when the old object of the change is gone, which in turn waits for them (OD-11).
    pub(super) fn invocations_before(&mut self, change: u32) -> Vec<u32> {
        let mut steps: Vec<u32> = Vec::new();
        for invocation in self.triggered(change, |event| event.is_before()) {
            let mut requires: Vec<u32> = self.action_block(invocation).into_iter().collect();
            requires.extend(steps.last());
            steps.push(self.step(Step::Invoke(invocation), &requires));
        }
        if !steps.is_empty() {
            self.before.insert(change, steps.clone());
        }
        steps
    }

    /// The actions after the changes of a resource. Whatever else depends on the resource does not wait for them.
    pub(super) fn invocations_after(&mut self, module: ModuleId, resource: u32, requires: &[u32]) -> u32 {
        let node = self.inputs.world.static_module(module).resource(resource as usize);
        let whole = self.ends[module.at()][node.at()];
        let others: Vec<u32> = requires.iter().copied().filter(|step| *step != whole).collect();
        let mut ends = Vec::new();
        for (_, change) in self.live.get(&(module, resource)).cloned().unwrap_or_default() {
            let mut last = self.makes.get(&change).copied();
            let mut first = others.clone();
            for invocation in self.triggered(change, |event| !event.is_before()) {
                first.extend(last);
                let step = self.step(Step::Invoke(invocation), &first);
                self.after.entry(change).or_insert(step);
                first.clear();
                last = Some(step);
                ends.push(step);
            }
        }
        self.join(&ends)
    }

    /// The actions that events of a change trigger, of those events that `counts` is true of.
    fn triggered(&self, change: u32, counts: fn(ActionEvent) -> bool) -> Vec<u32> {
        let all = self.invoked.get(&change).map_or(&[][..], Vec::as_slice).iter().copied();
        let is_then = |at: &u32| {
            let trigger = self.inputs.invocations.get(*at as usize).and_then(Invocation::trigger);
            trigger.is_some_and(|(_, event)| counts(event))
        };
        all.filter(is_then).collect()
    }

    /// The end of the block of an action that is invoked: what the action refers to is done then.
    fn action_block(&self, invocation: u32) -> Option<u32> {
        let world = self.inputs.world;
        let action = &self.inputs.invocations.get(invocation as usize)?.action;
        let module = world.find(&action.module)?;
        let block = world.static_module(module);
        let key = (action.type_name.clone(), action.name.clone());
        let node = block.action(block.config.actions.get_index_of(&key)?);
        Some(self.ends[module.at()][node.at()]).filter(|step| *step != NONE)
    }

    /// Adds steps for actions that were requested with `-invoke`. They depend on no change.
    pub(super) fn requested(&mut self) {
        for (at, invocation) in self.inputs.invocations.iter().enumerate() {
            if invocation.trigger().is_none() {
                let requires = self.action_block(narrow(at));
                self.step(Step::Invoke(narrow(at)), requires.as_slice());
            }
        }
    }
}

/// Returns the invocations around each change, in the order of the plan.
pub(super) fn around(inputs: &Inputs<'_>) -> HashMap<u32, Vec<u32>> {
    let mut invoked: HashMap<u32, Vec<u32>> = HashMap::new();
    if inputs.invocations.is_empty() {
        return invoked;
    }
    let current = inputs.changes.iter().enumerate().filter(|(_, change)| change.deposed.is_none());
    let changes: HashMap<_, _> = current.map(|(at, change)| (&change.address, narrow(at))).collect();
    for (at, invocation) in inputs.invocations.iter().enumerate() {
        if let Some(change) = invocation.trigger().and_then(|(resource, _)| changes.get(resource)) {
            invoked.entry(*change).or_default().push(narrow(at));
        }
    }
    invoked
}
