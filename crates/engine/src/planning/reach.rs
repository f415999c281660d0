//! Dependencies and dependents of configuration nodes, for plans with targets.

use std::collections::{BTreeSet, HashMap, HashSet};

use groma_address::{InstanceKey, Mode as ResourceMode, ModuleInstance, Name};
use groma_config::ModuleCall;
use groma_state::State;
use groma_value::Value;

use super::targets::Included;
use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind, StaticModule, narrow};
use crate::world::Expansion;

/// Whether what changes of a resource have invoked counts as a part of it: nothing is invoked where objects go or a person asks for an action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Triggers {
    Part,
    Apart,
}

/// Returns the nodes that a node waits for, its expansion included.
pub(super) fn requirements(graph: &ConfigGraph, index: ModuleIndex, node: NodeIndex) -> Vec<(ModuleIndex, NodeIndex)> {
    let required = graph.requires(index, node).iter();
    let mut found: Vec<_> = required.filter_map(|requirement| graph.node_ref(index, requirement.node_ref)).collect();
    // Expansion of the module and its call is not mentioned anywhere, but nothing in the module exists without it.
    graph.for_each_implied(index, node, &mut |node_ref| found.push(node_ref));
    found
}

/// Returns the requirements of a node, including those of the actions that its changes trigger.
pub(super) fn needed(
    graph: &ConfigGraph,
    triggers: Triggers,
    index: ModuleIndex,
    node: NodeIndex,
) -> Vec<(ModuleIndex, NodeIndex)> {
    let mut found = requirements(graph, index, node);
    let module = graph.module(index);
    if let (Triggers::Part, NodeKind::Resource(at)) = (triggers, module.kind(node))
        && let Some(trigger) = module.trigger(at)
    {
        // An action may refer to the resource that triggers it, which is no dependency of the resource on itself.
        found.extend(requirements(graph, index, trigger).into_iter().filter(|node_ref| *node_ref != (index, node)));
    }
    found
}

/// Returns the resources that depend on one of `chosen`, directly or indirectly, each with the depth in the module tree that no path
/// between them leaves.
pub(super) fn dependents(
    graph: &ConfigGraph,
    triggers: Triggers,
    chosen: &[(ModuleIndex, NodeIndex)],
) -> HashMap<(ModuleIndex, NodeIndex), usize> {
    let mut users: HashMap<(ModuleIndex, NodeIndex), Vec<(ModuleIndex, NodeIndex)>> = HashMap::new();
    for (index, module) in graph.modules() {
        for at in 0..narrow(module.len()) {
            for required in needed(graph, triggers, index, NodeIndex(at)) {
                users.entry(required).or_default().push((index, NodeIndex(at)));
            }
        }
    }
    let depth = |index: ModuleIndex| graph.module(index).config.path.steps().len();
    let mut seen = HashMap::new();
    let mut open: Vec<_> = chosen.iter().map(|node_ref| (*node_ref, depth(node_ref.0))).collect();
    // A depth-first search over nodes and depths: a node is visited again only if it is reached with a smaller depth.
    while let Some((node_ref, below)) = open.pop() {
        for user in users.get(&node_ref).into_iter().flatten() {
            let below = below.min(depth(user.0));
            // A way that comes by a place again counts where it leads further up: as many times as there are modules around it at most.
            if seen.get(user).is_none_or(|known| below < *known) {
                seen.insert(*user, below);
                open.push((*user, below));
            }
        }
    }
    // Values in between connect resources but are not destroyed themselves.
    seen.retain(|(index, node), _| matches!(graph.module(*index).kind(*node), NodeKind::Resource(_)));
    seen
}

/// The needed part of the configuration, and the module instances of the state.
#[derive(Debug)]
pub struct DestroyScope {
    needed: HashSet<(ModuleIndex, NodeIndex)>,
    /// The nodes that provider configurations alone need: apply does not evaluate the rest of `needed` again.
    configuring: HashSet<(ModuleIndex, NodeIndex)>,
    calls: HashMap<(ModuleInstance, Name), BTreeSet<InstanceKey>>,
}

impl DestroyScope {
    /// Works it out. Where not everything is destroyed, nothing is done with ephemeral resources that no provider needs.
    pub fn of(graph: &ConfigGraph, state: &State, included: Option<&Included>) -> Self {
        let configuring = closure(graph, |_, kind| matches!(kind, NodeKind::Provider(_)));
        let needed = match included {
            None => closure(graph, |module, kind| matches!(kind, NodeKind::Provider(_)) || is_ephemeral(module, kind)),
            // A partial destroy opens no ephemeral resources except those of providers.
            Some(_) => configuring.clone(),
        };
        Self { needed, configuring, calls: recorded_calls(state) }
    }

    /// Whether something is configured with what a node gives.
    pub fn needs(&self, index: ModuleIndex, node: NodeIndex) -> bool {
        self.needed.contains(&(index, node))
    }

    /// Whether the execution of the plan has something to do with a node of a module.
    pub fn executes(&self, module: &StaticModule, index: ModuleIndex, node: NodeIndex) -> bool {
        match module.kind(node) {
            // Other ephemeral resources are opened only to plan with them.
            kind if is_ephemeral(module, kind) => self.configuring.contains(&(index, node)),
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
        // One key decides the shape, as for resources: a state can mix keys after the repetition has changed.
        if keys().any(InstanceKey::is_none) {
            return Expansion::Single;
        }
        let numbers: Vec<u64> =
            keys().filter_map(|key| if let InstanceKey::Int(index) = key { Some(*index) } else { None }).collect();
        match &numbers[..] {
            [_, ..] => Expansion::of_recorded(&numbers),
            // Without instances the kind of repetition comes from the block.
            [] if call.count.is_some() => Expansion::Count(0),
            [] => {
                let names =
                    keys().filter_map(|key| if let InstanceKey::String(name) = key { Some(name) } else { None });
                Expansion::ForEach(names.map(|name| (name.clone(), Value::DYNAMIC)).collect())
            }
        }
    }
}

/// Whether a node is an ephemeral resource.
pub(super) fn is_ephemeral(module: &StaticModule, kind: NodeKind) -> bool {
    let NodeKind::Resource(at) = kind else { return false };
    module.config.resources.get_index(at as usize).is_some_and(|(address, _)| address.mode == ResourceMode::Ephemeral)
}

/// Returns the roots and everything that they depend on.
fn closure(
    graph: &ConfigGraph,
    is_root: impl Fn(&StaticModule, NodeKind) -> bool,
) -> HashSet<(ModuleIndex, NodeIndex)> {
    let mut open = Vec::new();
    for (index, module) in graph.modules() {
        open.extend(module.nodes().filter(|(_, kind)| is_root(module, *kind)).map(|(node, _)| (index, node)));
    }
    let mut needed = HashSet::new();
    while let Some((index, node)) = open.pop() {
        // Insertion also ends the search at nodes that were reached before, and on cycles.
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
