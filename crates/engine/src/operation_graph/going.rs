//! Nodes for objects that are destroyed.

use std::collections::BTreeMap;

use groma_address::{ConfigResource, Mode as ResourceMode, ModuleInstance};
use groma_plan::{Action, Plan, ResourceChange};
use groma_state::State;

use super::drawing::{Drawing, config_resource};
use super::drawn::{Drawn, DrawnObject};

impl Drawing<'_> {
    pub(super) fn outputs(&mut self) {
        for name in self.configuration.root.outputs.keys() {
            self.add(format!("output.{name} (expand)"), None, []);
        }
    }

    /// Data sources leave the state by themselves.
    pub(super) fn data_goes(&mut self, state: &State) {
        for instance in state.iter().filter(|instance| instance.resource.resource.mode == ResourceMode::Data) {
            let resource = instance.resource.resource.in_module(instance.resource.module.path()).to_string();
            self.add(format!("{} (destroy)", instance.address()), Some(DrawnObject::Resource(resource)), []);
        }
    }

    /// Objects that go: after those that depend on them.
    pub(super) fn deletions(&mut self, plan: &Plan) {
        let goes = |change: &&ResourceChange| {
            matches!(change.action, Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete)
        };
        let mut gone: BTreeMap<ConfigResource, Vec<&ResourceChange>> = BTreeMap::new();
        for change in plan.changes.iter().filter(goes) {
            gone.entry(config_resource(change)).or_default().push(change);
        }
        for (resource, changes) in &gone {
            for change in changes {
                let name = self.deletion(resource, change);
                let stored = plan.prior_state.get(&change.address).and_then(|record| record.current.as_ref());
                let needed = stored.into_iter().flat_map(|object| object.dependencies.iter());
                let others = needed.filter_map(|needed| gone.get(needed)).flatten();
                for other in others.filter(|other| are_siblings(&change.address.module, &other.address.module)) {
                    self.add(format!("{} (destroy)", other.address), None, [name.clone()]);
                }
            }
        }
    }

    /// An object that goes; gives the name of its node.
    fn deletion(&mut self, resource: &ConfigResource, change: &ResourceChange) -> String {
        let provider = self.provider(&change.provider.block());
        let name = format!("{} (destroy)", change.address);
        let mut depends_on = vec![provider.clone()];
        if change.action == Action::CreateThenDelete {
            depends_on.push(change.address.to_string());
        }
        self.add(name.clone(), Some(DrawnObject::Resource(resource.to_string())), depends_on);
        self.add(format!("{provider} (close)"), None, [name.clone()]);
        name
    }

    /// All objects of a state: each goes after those that depend on it.
    pub(super) fn everything_goes(&mut self, state: &State) {
        self.outputs();
        for instance in state.iter() {
            let resource = instance.resource.resource.in_module(instance.resource.module.path());
            let provider = self.provider(instance.provider);
            let name = format!("{resource} (destroy)");
            self.add(name.clone(), Some(DrawnObject::Resource(resource.to_string())), [provider.clone()]);
            self.add(format!("{provider} (close)"), None, [name.clone()]);
            let needed = instance.record.current.iter().flat_map(|object| object.dependencies.iter());
            for needed in needed.filter(|needed| **needed != resource) {
                self.add(format!("{needed} (destroy)"), None, [name.clone()]);
            }
        }
        // A dependency that has no object any more is not drawn.
        let gone: Vec<String> =
            self.nodes.iter().filter(|(name, drawn)| is_unfounded(name, drawn)).map(|(name, _)| name.clone()).collect();
        for name in gone {
            self.nodes.remove(&name);
        }
    }
}

/// Whether two module instances are in the same instances of the calls that both are in.
fn are_siblings(one: &ModuleInstance, other: &ModuleInstance) -> bool {
    let mut pairs = one.steps().iter().zip(other.steps()).take_while(|(one, other)| one.name == other.name);
    pairs.all(|(one, other)| one.key == other.key)
}

/// Whether nothing but a dependency speaks of the object that goes.
fn is_unfounded(name: &str, drawn: &Drawn) -> bool {
    drawn.object.is_none() && name.ends_with(" (destroy)")
}
