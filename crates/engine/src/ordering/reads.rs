//! Data that is read by apply, and what goes before it.

use std::collections::HashMap;

use groma_address::ConfigResource;
use groma_plan::Action;

use super::Builder;
use super::destroy::Destroy;
use super::edges::Strength;
use crate::config_graph::{ModuleIndex, NodeIndex, narrow};

impl Builder<'_> {
    /// Data is read after the resources that it depends on have lost their instances, so that it sees the result.
    pub(super) fn reads_after_destroy(&mut self, destroys: &[Destroy]) {
        let reads: Vec<(u32, u32)> = self.reads().collect();
        let mut lost: HashMap<&ConfigResource, Vec<u32>> = HashMap::new();
        for destroy in destroys.iter().filter(|destroy| destroy.kind.is_orphan()) {
            lost.entry(&destroy.object.resource).or_default().push(destroy.step);
        }
        if reads.is_empty() || lost.is_empty() {
            return;
        }
        let mut gates: HashMap<ConfigResource, u32> = HashMap::new();
        let mut gates_before: HashMap<(ModuleIndex, NodeIndex), Vec<u32>> = HashMap::new();
        for (change, step) in reads {
            let address = &self.inputs.changes[change as usize].address;
            let Some((module, resource, _)) = self.inputs.world.locate(address) else { continue };
            let node = self.inputs.world.static_module(module).resource(resource as usize);
            let index = self.inputs.world.module(module).of;
            let before = gates_before.entry((index, node)).or_insert_with(|| {
                let ancestors = self.inputs.world.graph().ancestors().of(index, node);
                let lost = ancestors.iter().filter_map(|ancestor| Some((ancestor, lost.get(ancestor)?)));
                lost.map(|(ancestor, steps)| *gates.entry(ancestor.clone()).or_insert_with(|| self.join(steps)))
                    .collect()
            });
            for gate in before.iter() {
                self.edges.add(Strength::ReadAfterDestroy, *gate, step);
            }
        }
    }

    /// The data that is read, and by which step.
    fn reads(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let changes = self.inputs.changes.iter().enumerate();
        let reads = changes.filter(|(_, change)| change.action == Action::Read);
        reads.filter_map(|(at, _)| Some((narrow(at), *self.makes.get(&narrow(at))?)))
    }
}
