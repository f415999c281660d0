//! Data that is read by apply, and what goes before it.

use std::collections::HashMap;

use groma_address::ConfigResource;
use groma_plan::Action;

use super::Builder;
use super::destroy::Destroy;
use super::edges::Strength;
use crate::config_graph::{ModuleIndex, NodeIndex, narrow};

/// Data is read after the resources that it depends on have lost their instances, so that it sees the result.
pub(super) fn reads_after_destroy(builder: &mut Builder<'_>, destroys: &[Destroy]) {
    let reads: Vec<(u32, u32)> = reads(builder).collect();
    let mut orphaned: HashMap<&ConfigResource, Vec<u32>> = HashMap::new();
    for destroy in destroys.iter().filter(|destroy| destroy.kind.is_orphan()) {
        orphaned.entry(&destroy.object.resource).or_default().push(destroy.step);
    }
    if reads.is_empty() || orphaned.is_empty() {
        return;
    }
    let mut gates: HashMap<ConfigResource, u32> = HashMap::new();
    let mut gates_before: HashMap<(ModuleIndex, NodeIndex), Vec<u32>> = HashMap::new();
    for (change, step) in reads {
        let address = &builder.inputs.changes[change as usize].address;
        let Some((module, resource, _)) = builder.inputs.world.locate(address) else { continue };
        let node = builder.inputs.world.static_module(module).resource(resource as usize);
        let index = builder.inputs.world.module(module).of;
        let before = gates_before.entry((index, node)).or_insert_with(|| {
            let ancestors = builder.inputs.world.graph().ancestors().of(index, node);
            let orphaned = ancestors.iter().filter_map(|ancestor| Some((ancestor, orphaned.get(ancestor)?)));
            orphaned
                .map(|(ancestor, steps)| *gates.entry(ancestor.clone()).or_insert_with(|| builder.join(steps)))
                .collect()
        });
        for gate in before.iter() {
            builder.edges.add(Strength::ReadAfterDestroy, *gate, step);
        }
    }
}

/// The data that is read, and by which step.
fn reads<'b>(builder: &'b Builder<'b>) -> impl Iterator<Item = (u32, u32)> + 'b {
    let changes = builder.inputs.changes.iter().enumerate();
    let reads = changes.filter(|(_, change)| change.action == Action::Read);
    reads.filter_map(|(at, _)| Some((narrow(at), *builder.makes.get(&narrow(at))?)))
}
