//! The nodes of a graph that is drawn.

use std::collections::{BTreeMap, BTreeSet};

use super::circles::circular;
use super::reduction::reduce;

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
