//! The nodes of a drawn graph, without the edges that follow from others.

use std::collections::{BTreeMap, BTreeSet};

use super::cycle_mode::circular;

/// A node of the graph of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationNode {
    /// The unique name of the node.
    pub name: String,
    /// The block that the node represents, if any.
    pub object: Option<DrawnObject>,
    /// The positions of the nodes that come before, without transitive ones.
    pub depends_on: Vec<usize>,
    /// The positions in `depends_on` that are part of a cycle.
    pub circular: Vec<usize>,
}

/// An object of the configuration that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrawnObject {
    /// A resource, or an instance of it.
    Resource(String),
    /// A provider configuration, by its address.
    Provider(String),
    /// An input variable of the root module.
    Variable(String),
    /// An output value that goes.
    Output(String),
}

#[derive(Default)]
pub(super) struct Drawn {
    pub(super) object: Option<DrawnObject>,
    pub(super) depends_on: BTreeSet<String>,
}

/// The nodes in the order of their names, without edges that follow from others.
pub(super) fn in_order(nodes: BTreeMap<String, Drawn>) -> Vec<OperationNode> {
    let positions: BTreeMap<&str, usize> = nodes.keys().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let edges: Vec<Vec<usize>> = nodes
        .values()
        .map(|drawn| drawn.depends_on.iter().filter_map(|name| positions.get(name.as_str()).copied()).collect())
        .collect();
    let circular = circular(&edges);
    let reduced = if circular.iter().all(Vec::is_empty) { reduce(&edges) } else { edges };
    let edges = reduced.into_iter().zip(circular);
    let node = |((name, drawn), (depends_on, circular)): ((String, Drawn), _)| OperationNode {
        name,
        object: drawn.object,
        depends_on,
        circular,
    };
    nodes.into_iter().zip(edges).map(node).collect()
}

/// The edges of a graph without circles, less those that lead where a longer way leads too. Nodes are positions.
pub(super) fn reduce(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let heights = heights(edges);
    let mut seen = vec![usize::MAX; edges.len()];
    edges.iter().enumerate().map(|(node, direct)| without_detours(edges, &heights, &mut seen, node, direct)).collect()
}

/// `seen` says for which node each was last visited, so that it need not be emptied for each.
fn without_detours(
    edges: &[Vec<usize>],
    heights: &[usize],
    seen: &mut [usize],
    node: usize,
    direct: &[usize],
) -> Vec<usize> {
    // Nodes below every candidate for removal need no visit.
    let lowest = direct.iter().map(|next| heights[*next]).min().unwrap_or(0);
    let mut pending: Vec<usize> = direct.to_vec();
    while let Some(next) = pending.pop() {
        for further in &edges[next] {
            if heights[*further] >= lowest && seen[*further] != node {
                seen[*further] = node;
                pending.push(*further);
            }
        }
    }
    let mut kept: Vec<usize> = direct.iter().copied().filter(|next| seen[*next] != node).collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Returns the length of the longest path from each node to a leaf. A cycle is cut at an arbitrary edge.
fn heights(edges: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut heights = vec![UNKNOWN; edges.len()];
    let mut begun = vec![false; edges.len()];
    for start in 0..edges.len() {
        begun[start] = true;
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if heights[node] != UNKNOWN {
                path.pop();
                continue;
            }
            match edges[node].get(*next) {
                Some(below) => {
                    *next += 1;
                    if !std::mem::replace(&mut begun[*below], true) {
                        path.push((*below, 0));
                    }
                }
                None => {
                    heights[node] = edges[node].iter().map(|below| heights[*below].wrapping_add(1)).max().unwrap_or(0);
                    path.pop();
                }
            }
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::{any, proptest};

    #[test]
    fn transitive_edges_are_removed() {
        assert_eq!(reduce(&[vec![1, 2], vec![2], vec![]]), [vec![1], vec![2], vec![]]);
    }

    /// Whether there is a way from one to the other.
    fn leads(edges: &[Vec<usize>], from: usize, to: usize) -> bool {
        edges[from].iter().any(|next| *next == to || leads(edges, *next, to))
    }

    proptest! {
        #[test]
        fn what_could_be_reached_still_can_and_no_edge_is_too_many(bits in vec(vec(any::<bool>(), 7), 7)) {
            let edges: Vec<Vec<usize>> = (0..7).map(|from| (from + 1..7).filter(|to| bits[from][*to]).collect()).collect();
            let reduced = reduce(&edges);
            for from in 0..7 {
                for to in 0..7 {
                    assert_eq!(leads(&edges, from, to), leads(&reduced, from, to));
                }
                for to in &reduced[from] {
                    assert!(!reduced[from].iter().any(|other| other != to && leads(&reduced, *other, *to)));
                }
            }
        }
    }
}
