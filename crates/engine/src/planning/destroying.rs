//! What a plan that destroys everything stands on: what providers and ephemeral resources are configured with. The rest
//! of the configuration may be broken, or speak of objects that were never made, and must not keep what there is alive.

use std::collections::{BTreeSet, HashMap, HashSet};

use groma_address::{InstanceKey, Mode as ResourceMode, ModuleInstance, Name};
use groma_config::ModuleCall;
use groma_state::State;
use groma_value::Value;

use super::targets::requirements;
use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind};
use crate::world::Expansion;

/// What is needed of the configuration, and which module instances the state has.
#[derive(Debug)]
pub struct Remains {
    needed: HashSet<(ModuleIndex, NodeIndex)>,
    calls: HashMap<(ModuleInstance, Name), BTreeSet<InstanceKey>>,
}

impl Remains {
    /// Works it out.
    pub fn of(graph: &ConfigGraph, state: &State) -> Self {
        Self { needed: needed(graph), calls: recorded_calls(state) }
    }

    /// Whether something is configured with what a node gives.
    pub fn needs(&self, index: ModuleIndex, node: NodeIndex) -> bool {
        self.needed.contains(&(index, node))
    }

    /// Whether the execution of the plan has something to do with a node.
    pub fn executes(&self, kind: NodeKind, index: ModuleIndex, node: NodeIndex) -> bool {
        match kind {
            NodeKind::Variable(_)
            | NodeKind::Local(_)
            | NodeKind::Output(_)
            | NodeKind::Call(_)
            | NodeKind::CallOutput { .. }
            | NodeKind::CallEnd(_) => self.needs(index, node),
            _ => true,
        }
    }

    /// The instances that the state has of a call with `count` or `for_each`, in the shape of an expansion.
    pub fn recorded_call(&self, module: &ModuleInstance, call: &ModuleCall) -> Expansion {
        let keys = self.calls.get(&(module.clone(), call.name.clone()));
        let keys = || keys.into_iter().flatten();
        if keys().any(InstanceKey::is_none) {
            return Expansion::Single;
        }
        let numbers: Vec<u64> =
            keys().filter_map(|key| if let InstanceKey::Int(index) = key { Some(*index) } else { None }).collect();
        match &numbers[..] {
            [_, ..] => Expansion::of_recorded(&numbers),
            [] if call.count.is_some() => Expansion::Count(0),
            [] => {
                let names =
                    keys().filter_map(|key| if let InstanceKey::String(name) = key { Some(name) } else { None });
                Expansion::ForEach(names.map(|name| (name.clone(), Value::DYNAMIC)).collect())
            }
        }
    }
}

fn needed(graph: &ConfigGraph) -> HashSet<(ModuleIndex, NodeIndex)> {
    let mut open = Vec::new();
    for (index, module) in graph.modules() {
        let is_root = |kind| match kind {
            NodeKind::Provider(_) => true,
            NodeKind::Resource(at) => {
                let block = module.config.resources.get_index(at as usize);
                block.is_some_and(|(address, _)| address.mode == ResourceMode::Ephemeral)
            }
            _ => false,
        };
        open.extend(module.nodes().filter(|(_, kind)| is_root(*kind)).map(|(node, _)| (index, node)));
    }
    let mut needed = HashSet::new();
    while let Some((index, node)) = open.pop() {
        if needed.insert((index, node)) {
            open.extend(requirements(graph, index, node));
        }
    }
    needed
}

fn recorded_calls(state: &State) -> HashMap<(ModuleInstance, Name), BTreeSet<InstanceKey>> {
    let mut calls: HashMap<(ModuleInstance, Name), BTreeSet<InstanceKey>> = HashMap::new();
    let mut last = None;
    for (resource, _) in state.resources() {
        // Resources of one module follow each other.
        if last == Some(&resource.module) {
            continue;
        }
        last = Some(&resource.module);
        let mut parent = ModuleInstance::root();
        for step in resource.module.steps() {
            calls.entry((parent.clone(), step.name.clone())).or_default().insert(step.key.clone());
            parent = parent.child(step.name.clone(), step.key.clone());
        }
    }
    calls
}
