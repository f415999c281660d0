//! Actions that are invoked: before and after changes, and where a person asks for them.

use std::collections::HashMap;

use super::super::Step;
use super::{Builder, Inputs, NONE};
use crate::config_graph::narrow;
use crate::invocation::{ActionEvent, Invocation};
use crate::world::ModuleId;

impl Builder<'_> {
    /// The actions before a change, one after the other; the last of them.
    pub(super) fn invocations_before(&mut self, change: u32, requires: &[u32]) -> Option<u32> {
        let mut last = None;
        for invocation in self.triggered(change, |event| event.is_before()) {
            let step = self.step(Step::Invoke(invocation), last.as_ref().map_or(requires, std::slice::from_ref));
            last = Some(step);
        }
        if let Some(step) = last {
            self.before.insert(change, step);
        }
        last
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

    /// What a person asks for stands on nothing that changes.
    pub(super) fn requested(&mut self) {
        for (at, invocation) in self.inputs.invocations.iter().enumerate() {
            if invocation.trigger().is_none() {
                let world = self.inputs.world;
                let requires = world.find(&invocation.action.module).and_then(|module| {
                    let place = world.static_module(module);
                    let key = (invocation.action.type_name.clone(), invocation.action.name.clone());
                    let node = place.action(place.config.actions.get_index_of(&key)?);
                    Some(self.ends[module.at()][node.at()]).filter(|step| *step != NONE)
                });
                self.step(Step::Invoke(narrow(at)), requires.as_slice());
            }
        }
    }
}

/// What is invoked around each change, in the order of the plan.
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
