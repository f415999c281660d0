//! The edges between the nodes of all modules, in both directions. All lists of a module are in one piece of memory: a walk reads
//! them in order, and a node without edges costs four bytes.

use std::collections::HashSet;

use groma_address::ProviderConfig;
use groma_config::Configuration;

use super::index::narrow;
use super::requirements::{Requirements, imports};
use super::rules_first::wait_for_rules;
use super::{ConfigGraph, Dependent, NodeIndex, NodeKind, NodeRef, Requirement};

/// A list of `T` for each node of a module.
#[derive(Clone, Debug)]
pub(super) struct Edges<T> {
    /// The start of each node's list in `items`, and the end of the last one.
    starts: Vec<u32>,
    all: Vec<T>,
}

impl<T> Default for Edges<T> {
    fn default() -> Self {
        Self { starts: vec![0], all: Vec::new() }
    }
}

impl<T> Edges<T> {
    /// No lists yet, with room for those of so many nodes.
    pub(super) fn with_room(nodes: usize) -> Self {
        let mut starts = Vec::with_capacity(nodes + 1);
        starts.push(0);
        Self { starts, all: Vec::new() }
    }

    /// Adds the list of the next node.
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.all.extend(list);
        self.starts.push(narrow(self.all.len()));
    }

    /// The list of a node; empty for one that has none.
    pub(super) fn of(&self, node: NodeIndex) -> &[T] {
        let range = self.starts.get(node.at()).zip(self.starts.get(node.at() + 1));
        range.and_then(|(from, to)| self.all.get(*from as usize..*to as usize)).unwrap_or_default()
    }
}

impl<T: Copy> Edges<T> {
    /// The lists of `nodes` nodes from edges in any order; those of one node stay in the order they come in.
    pub(super) fn sorted(nodes: usize, edges: &[(NodeIndex, T)]) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        for (node, _) in edges {
            starts[node.at() + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut all: Vec<T> = edges.iter().map(|(_, edge)| *edge).collect();
        for (node, edge) in edges {
            let node_ref = &mut next[node.at()];
            all[*node_ref as usize] = *edge;
            *node_ref += 1;
        }
        Self { starts, all }
    }
}

/// The edges of a module's nodes.
#[derive(Debug)]
pub(super) struct ModuleEdges {
    /// The nodes that must be done before each node, without repetition.
    pub(super) requires: Edges<Requirement>,
    /// The nodes that wait for each node: the reverse of `requires`.
    pub(super) dependents: Edges<Dependent>,
}

/// The edges of the graph, and facts that are found while they are built.
#[derive(Debug)]
pub(super) struct Drawn {
    /// The edges of each module.
    pub(super) modules: Vec<ModuleEdges>,
    /// The provider configurations that functions come with which are called.
    pub(super) function_providers: HashSet<ProviderConfig>,
}

/// Draws the edges between the nodes of all modules.
///
/// References to what does not exist make no edge: they are reported by the checks of the configuration.
pub(super) fn draw(graph: &ConfigGraph, configuration: &Configuration) -> Drawn {
    let imports = imports(&configuration.root);
    let mut function_providers = HashSet::new();
    let requires = graph.modules().map(|(index, module)| {
        let mut collector = Requirements::new(configuration, graph, &imports, index);
        let mut requires = Edges::with_room(module.len());
        for (node, kind) in module.nodes() {
            collector.collect(kind);
            // A block that mentions itself is reported by the checks of the configuration, but for a provider that calls what it brings.
            let may_be_own = matches!(kind, NodeKind::Provider(_));
            requires.push(collector.take().filter(|one| may_be_own || one.node_ref != NodeRef::Here(node)));
        }
        function_providers.extend(collector.function_providers);
        requires
    });
    let mut requires: Vec<_> = requires.collect();
    wait_for_rules(graph, &mut requires);
    let dependents = dependents(graph, &requires);
    let edges = requires.into_iter().zip(dependents);
    let modules = edges.map(|(requires, dependents)| ModuleEdges { requires, dependents }).collect();
    Drawn { modules, function_providers }
}

/// Returns the reverse of `requires`.
fn dependents(graph: &ConfigGraph, requires: &[Edges<Requirement>]) -> Vec<Edges<Dependent>> {
    let mut edges: Vec<Vec<(NodeIndex, Dependent)>> = vec![Vec::new(); graph.len()];
    for ((index, module), requires) in graph.modules().zip(requires) {
        for (here, _) in module.nodes() {
            for requirement in requires.of(here) {
                let (of, required, dependent) = match (requirement.node_ref, module.caller) {
                    (NodeRef::Here(required), _) => (index, required, Dependent::Here(here)),
                    (NodeRef::Caller(required), Some(caller)) => {
                        (caller.module, required, Dependent::Input { call: caller.call, node: here })
                    }
                    (NodeRef::Above(above, required), _) => (above, required, Dependent::Below(index, here)),
                    // Only variables of child modules refer to the caller, and child modules always have one.
                    (NodeRef::Caller(_), None) => continue,
                };
                edges[of.at()].push((required, dependent));
            }
        }
    }
    graph.modules().zip(edges).map(|((_, module), edges)| Edges::sorted(module.len(), &edges)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_node_has_its_edges_in_their_order(edges in prop::collection::vec((0_u32..5, 0_u8..100), 0..40)) {
            let edges: Vec<(NodeIndex, u8)> = edges.into_iter().map(|(node, edge)| (NodeIndex(node), edge)).collect();
            let sorted = Edges::sorted(5, &edges);
            for node in (0..5).map(NodeIndex) {
                let own: Vec<u8> = edges.iter().filter(|(other, _)| *other == node).map(|(_, edge)| *edge).collect();
                prop_assert_eq!(sorted.of(node), own);
            }
            prop_assert!(sorted.of(NodeIndex(5)).is_empty());
        }
    }
}
