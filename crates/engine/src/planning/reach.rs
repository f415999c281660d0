//! Dependencies and dependents of configuration nodes, for plans with targets.

use std::collections::HashMap;

use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind, narrow};

/// Whether what changes of a resource have invoked counts as a part of it: nothing is invoked where objects go or a person asks for an action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Triggers {
    Part,
    Apart,
}

/// Returns the nodes that a node waits for, its expansion included.
pub(super) fn requirements(graph: &ConfigGraph, index: ModuleIndex, node: NodeIndex) -> Vec<(ModuleIndex, NodeIndex)> {
    let required = graph.requires(index, node).iter();
    let mut found: Vec<_> = required.filter_map(|requirement| graph.place(index, requirement.place)).collect();
    graph.for_each_implied(index, node, &mut |place| found.push(place));
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
        found.extend(requirements(graph, index, trigger).into_iter().filter(|place| *place != (index, node)));
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
    let mut open: Vec<_> = chosen.iter().map(|place| (*place, depth(place.0))).collect();
    while let Some((place, below)) = open.pop() {
        for user in users.get(&place).into_iter().flatten() {
            let below = below.min(depth(user.0));
            // A way that comes by a place again counts where it leads further up: as many times as there are modules around it at most.
            if seen.get(user).is_none_or(|known| below < *known) {
                seen.insert(*user, below);
                open.push((*user, below));
            }
        }
    }
    seen.retain(|(index, node), _| matches!(graph.module(*index).kind(*node), NodeKind::Resource(_)));
    seen
}
