//! Lists of edges, all in one piece of memory: a walk reads them in order, and a node without edges costs four bytes.

use super::index::{NodeIndex, narrow};

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
            let place = &mut next[node.at()];
            all[*place as usize] = *edge;
            *place += 1;
        }
        Self { starts, all }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
