//! Data that is read by apply, and what goes before it.

use std::collections::{HashMap, HashSet};

use groma_address::ConfigResource;

use super::{Builder, NONE};
use crate::config_graph::{ModuleIndex, NodeIndex, narrow};
use crate::plan::Action;

impl Builder<'_> {
    /// What data resources depend on has lost its instances when they are read, where that makes no circle: who reads wants to see what
    /// has become of it.
    pub(super) fn reads_after_lost(&mut self, by_resource: &HashMap<ConfigResource, Vec<u32>>) {
        let reads: Vec<(u32, u32)> = self.reads().collect();
        if reads.is_empty() {
            return;
        }
        let held = self.held();
        let mut gates: HashMap<ConfigResource, u32> = HashMap::new();
        let mut gates_before: HashMap<(ModuleIndex, NodeIndex), Vec<u32>> = HashMap::new();
        for (change, step) in reads {
            let address = &self.inputs.changes[change as usize].address;
            let Some((module, resource, _)) = self.inputs.world.locate(address) else { continue };
            let node = self.inputs.world.static_module(module).resource(resource as usize);
            let index = self.inputs.world.module(module).of;
            let before = gates_before.entry((index, node)).or_insert_with(|| {
                let behind = self.inputs.world.graph().ancestors().of(index, node);
                let free = behind.iter().filter(|dependency| !held.contains(*dependency));
                let lost = free.filter_map(|dependency| Some((dependency, by_resource.get(dependency)?)));
                lost.map(|(dependency, lost)| *gates.entry(dependency.clone()).or_insert_with(|| self.join(lost)))
                    .filter(|gate| *gate != NONE)
                    .collect()
            });
            self.edges.extend(before.iter().map(|gate| (*gate, step)));
        }
    }

    /// The data that is read, and by which step.
    fn reads(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let changes = self.inputs.changes.iter().enumerate();
        let reads = changes.filter(|(_, change)| change.action == Action::Read);
        reads.filter_map(|(at, _)| Some((narrow(at), *self.makes.get(&narrow(at))?)))
    }

    /// Resources whose objects go only after something is made or changed, which may stand on what is read: those below objects that are
    /// replaced by ones created before, and below objects without a block.
    fn held(&self) -> HashSet<ConfigResource> {
        let mut held = HashSet::new();
        for (at, change) in self.inputs.changes.iter().enumerate() {
            let resource = change.address.config_resource();
            let has_no_block = || self.inputs.world.graph().find_resource(&resource).is_none();
            let waits =
                change.action == Action::CreateThenDelete || (change.action == Action::Delete && has_no_block());
            if waits {
                held.extend((self.inputs.dependencies)(at).iter().cloned());
                held.insert(resource);
            }
        }
        held
    }
}
