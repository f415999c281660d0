//! The resources that a resource depends on, directly or indirectly.

use groma_address::ConfigResource;
use groma_state::{Dependencies, OrderedAddresses};

use super::cycle::Flat;
use super::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind, narrow};

/// For each node the resources that it depends on, as sets that are shared wherever they are equal.
///
/// Built for the first record that is written or compared.
#[derive(Debug)]
pub struct Ancestors {
    /// The number of the first node of each module.
    first: Vec<u32>,
    /// Sets by node, each in the order of state files.
    sets: Vec<Dependencies>,
}

impl Ancestors {
    /// Works them out for all nodes.
    pub fn new(graph: &ConfigGraph) -> Self {
        let flat = Flat::new(graph);
        let mut ranks = Ranks::new(graph, &flat);
        let mut sets = vec![Dependencies::default(); flat.len()];
        let (mut own, mut lists): (Vec<u32>, Vec<Dependencies>) = (Vec::new(), Vec::new());
        // In dependency order, so that the sets of all requirements are complete.
        for number in flat.order() {
            own.clear();
            lists.clear();
            flat.for_each_requirement(number, &mut |required| {
                own.extend(ranks.of(required));
                let set = &sets[required as usize];
                // Most requirements share their set, so comparing pointers avoids most unions.
                if !set.is_empty() && !lists.iter().any(|known| known.is_same_list(set)) {
                    lists.push(set.clone());
                }
            });
            sets[number as usize] = ranks.addresses.union(&own, &lists);
        }
        let first = (0..graph.len()).map(|at| flat.number(ModuleIndex(narrow(at)), NodeIndex(0))).collect();
        Self { first, sets }
    }

    /// The resources that the resource at `node` depends on.
    pub fn of(&self, module: ModuleIndex, node: NodeIndex) -> Dependencies {
        let number = self.first.get(module.at()).map(|first| (first + node.0) as usize);
        number.and_then(|number| self.sets.get(number)).cloned().unwrap_or_default()
    }
}

/// Resources by their place in the order of addresses, so that sets of numbers are sorted as their addresses are.
struct Ranks {
    by_node: Vec<u32>,
    addresses: OrderedAddresses,
}

impl Ranks {
    fn new(graph: &ConfigGraph, flat: &Flat<'_>) -> Self {
        let mut resources: Vec<(String, ConfigResource, u32)> = Vec::new();
        for (index, module) in graph.modules() {
            for (node, kind) in module.nodes() {
                if let NodeKind::Resource(position) = kind
                    && let Some(address) = graph.resource_address(index, position)
                {
                    resources.push((address.to_string(), address, flat.number(index, node)));
                }
            }
        }
        resources.sort_unstable_by(|(one, ..), (other, ..)| one.cmp(other));
        let mut by_node = vec![u32::MAX; flat.len()];
        for (rank, (.., number)) in resources.iter().enumerate() {
            by_node[*number as usize] = narrow(rank);
        }
        let addresses = OrderedAddresses::new(resources.into_iter().map(|(text, address, _)| (text, address)));
        Self { by_node, addresses }
    }

    fn of(&self, number: u32) -> Option<u32> {
        self.by_node.get(number as usize).copied().filter(|rank| *rank != u32::MAX)
    }
}

/// Resources whose replacement creates first because something that depends on them does (PL-11, OD-09). A run for chosen targets
/// counts what it leaves out as well: it leaves objects there that the replaced ones are needed by.
///
/// Only a literal `create_before_destroy = true` spreads: other expressions are not known before the walk.
pub fn forced_create_before_destroy(graph: &ConfigGraph) -> Vec<Vec<bool>> {
    let flat = Flat::new(graph);
    let mut forced = vec![false; flat.len()];
    // From users to dependencies, so that one pass is enough.
    for number in flat.order().into_iter().rev() {
        let (index, node) = flat.node(number);
        let module = graph.module(index);
        let own = match module.kind(node) {
            // Other values are not known yet; they count for their own instance only.
            NodeKind::Resource(at) => module.config.resources.get_index(at as usize).is_some_and(|(_, resource)| {
                let setting = resource.lifecycle.create_before_destroy.as_ref();
                setting.is_some_and(|setting| matches!(setting.kind, groma_hcl::ExpressionKind::Bool(true)))
            }),
            _ => false,
        };
        if own || forced[number as usize] {
            forced[number as usize] = true;
            flat.for_each_requirement(number, &mut |required| forced[required as usize] = true);
        }
    }
    graph
        .modules()
        .map(|(index, module)| {
            let first = flat.number(index, NodeIndex(0)) as usize;
            forced[first..first + module.len()].to_vec()
        })
        .collect()
}
