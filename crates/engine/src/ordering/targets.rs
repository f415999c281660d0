//! Steps by the resource that recorded dependencies name.

use std::collections::HashMap;

use groma_address::{ConfigResource, ModuleInstance, ResourceInstance};

/// The instances of a resource that an object depends on by its record.
///
/// A record names resources, not instances of them. Between objects of one module it means those of the same module instance:
/// references inside a module never lead to another instance of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dependency<'a> {
    resource: &'a ConfigResource,
    within: Option<&'a ModuleInstance>,
}

impl<'a> Dependency<'a> {
    /// The instances that the record of the object at `dependent`, an instance of `own`, means by `resource`.
    pub(super) fn of(dependent: &'a ResourceInstance, own: &ConfigResource, resource: &'a ConfigResource) -> Self {
        let within = (own.module == resource.module).then_some(&dependent.module);
        Self { resource, within }
    }
}

/// Steps that change or destroy objects, by what others call these in their records.
#[derive(Debug, Default)]
pub(super) struct Targets<'a> {
    steps: HashMap<Dependency<'a>, Vec<u32>>,
    gates: HashMap<Dependency<'a>, u32>,
}

impl<'a> Targets<'a> {
    /// Adds the step of the object at `address`, which is an instance of `resource`.
    pub(super) fn add(&mut self, resource: &'a ConfigResource, address: &'a ResourceInstance, step: u32) {
        for within in [None, Some(&address.module)] {
            self.steps.entry(Dependency { resource, within }).or_default().push(step);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// One step for all those that `dependency` means: that step itself where it is only one, or what `join` makes of them.
    pub(super) fn gate(&mut self, dependency: Dependency<'a>, join: impl FnOnce(&[u32]) -> u32) -> Option<u32> {
        match self.steps.get(&dependency)?.as_slice() {
            [only] => Some(*only),
            many => Some(*self.gates.entry(dependency).or_insert_with(|| join(many))),
        }
    }
}
