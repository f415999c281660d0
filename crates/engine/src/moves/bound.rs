//! Lookup of the objects in a state that a move statement may affect.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use groma_address::{AbsResource, InstanceKey, ModuleInstance, Name, Resource, ResourceInstance, Target};
use groma_state::State;

use super::statement::Statement;

/// The resources of a state by the place of their blocks: a statement is about all instances of the module that holds it,
/// and looks only at the addresses that it names, however large the state is.
pub(super) struct Bound {
    /// By the names on the way to the module, so that those below a module follow it.
    modules: BTreeMap<Vec<Name>, HashMap<Resource, BTreeSet<AbsResource>>>,
}

impl Bound {
    pub(super) fn of(state: &State) -> Self {
        let mut bound = Self { modules: BTreeMap::new() };
        state.resources().for_each(|(resource, _)| bound.add(resource));
        bound
    }

    /// Objects are bound to instances of `resource` now; to forget where they are not any more is not needed.
    pub(super) fn add(&mut self, resource: &AbsResource) {
        let names = resource.module.steps().iter().map(|step| step.name.clone()).collect();
        let of_block = self.modules.entry(names).or_default().entry(resource.resource.clone()).or_default();
        if !of_block.contains(resource) {
            of_block.insert(resource.clone());
        }
    }

    /// Returns the objects that `statement` moves, with their new addresses.
    pub(super) fn moved_by(&self, statement: &Statement, state: &State) -> Vec<(ResourceInstance, ResourceInstance)> {
        let mut found = Vec::new();
        let mut look_at = |address: ResourceInstance| {
            if let Some(target) = statement.apply(&address).filter(|target| *target != address) {
                found.push((address, target));
            }
        };
        for resource in self.named_by(statement) {
            let Some(entry) = state.resource(resource) else { continue };
            match (&statement.from, &statement.to) {
                (Target::Instance(ResourceInstance { key, .. }), _) if entry.instance(key).is_some() => {
                    look_at(resource.instance(key.clone()));
                }
                (Target::Instance(_), _) => {}
                (Target::Resource(_), Target::Instance(_)) if entry.instance(&InstanceKey::None).is_none() => {}
                _ => entry.instances().for_each(|(key, _)| look_at(resource.instance(key.clone()))),
            }
        }
        found
    }

    /// The instances of a call that have something in the state.
    pub(super) fn instances_of_call(&self, call: &Statement, state: &State) -> HashSet<ModuleInstance> {
        let depth = call.names().len();
        let there = self.named_by(call).into_iter().filter(|resource| state.resource(resource).is_some());
        there.map(|resource| ModuleInstance::from_steps(resource.module.steps().iter().take(depth).cloned())).collect()
    }

    /// The resources with the block that a statement names, or in the modules it names; not all need be meant.
    fn named_by(&self, statement: &Statement) -> BTreeSet<&AbsResource> {
        let named = statement.names();
        match &statement.from {
            Target::Module(_) => {
                let below = self.modules.range(named.clone()..).take_while(|(names, _)| names.starts_with(&named));
                below.flat_map(|(_, blocks)| blocks.values().flatten()).collect()
            }
            Target::Resource(AbsResource { resource, .. }) | Target::Instance(ResourceInstance { resource, .. }) => {
                let of_block = self.modules.get(&named).and_then(|blocks| blocks.get(resource));
                of_block.into_iter().flatten().collect()
            }
        }
    }
}
