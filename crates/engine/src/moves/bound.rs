//! Index of the state's resources for move statements.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use groma_address::{AbsResource, InstanceKey, ModuleInstance, Name, Resource, ResourceInstance, Target};
use groma_state::State;

use super::statement::Statement;

/// The resources that have objects in the state, by module path and resource. A statement applies to all instances of its module;
/// with this index it reads only the resources it names, however large the state is.
pub(super) struct BoundResources {
    /// Resources by module path. Sorted, so that the modules inside a module follow it.
    modules: BTreeMap<Vec<Name>, HashMap<Resource, BTreeSet<AbsResource>>>,
}

impl BoundResources {
    pub(super) fn of(state: &State) -> Self {
        let mut bound = Self { modules: BTreeMap::new() };
        state.resources().for_each(|(resource, _)| bound.add(resource));
        bound
    }

    /// Adds the new resource of a moved object. The former one may stay: [`BoundResources::moved_by`] asks the state as well.
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
        let mut add_if_moved = |address: ResourceInstance| {
            if let Some(target) = statement.apply(&address).filter(|target| *target != address) {
                found.push((address, target));
            }
        };
        for resource in self.named_by(statement) {
            let Some(entry) = state.resource(resource) else { continue };
            match (&statement.from, &statement.to) {
                (Target::Instance(ResourceInstance { key, .. }), _) if entry.instance(key).is_some() => {
                    add_if_moved(resource.instance(key.clone()));
                }
                (Target::Instance(_), _) => {}
                (Target::Resource(_), Target::Instance(_)) if entry.instance(&InstanceKey::None).is_none() => {}
                _ => entry.instances().for_each(|(key, _)| add_if_moved(resource.instance(key.clone()))),
            }
        }
        found
    }

    /// Returns the module instances of a call that have objects in the state.
    pub(super) fn instances_of_call(&self, call: &Statement, state: &State) -> HashSet<ModuleInstance> {
        let depth = call.module_names().len();
        let existing = self.named_by(call).into_iter().filter(|resource| state.resource(resource).is_some());
        existing
            .map(|resource| ModuleInstance::from_steps(resource.module.steps().iter().take(depth).cloned()))
            .collect()
    }

    /// Returns the resources that a statement may affect: those of the named block, or those inside the named module. Module keys
    /// are ignored, so [`Statement::apply`] decides about each instance.
    fn named_by(&self, statement: &Statement) -> BTreeSet<&AbsResource> {
        let named = statement.module_names();
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
