//! The edges between the nodes of all modules, in both directions.

use std::collections::HashSet;

use groma_address::ProviderConfig;
use groma_config::Configuration;

use super::edges::Edges;
use super::requirements::{Requirements, imports};
use super::rules_first::wait_for_rules;
use super::{ConfigGraph, Dependent, NodeIndex, NodeKind, Place, Requirement};

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
            requires.push(collector.take().filter(|one| may_be_own || one.place != Place::Here(node)));
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
                let (of, required, dependent) = match (requirement.place, module.caller) {
                    (Place::Here(required), _) => (index, required, Dependent::Here(here)),
                    (Place::Caller(required), Some(caller)) => {
                        (caller.module, required, Dependent::Input { call: caller.call, node: here })
                    }
                    (Place::Above(above, required), _) => (above, required, Dependent::Below(index, here)),
                    // Only variables of child modules refer to the caller, and child modules always have one.
                    (Place::Caller(_), None) => continue,
                };
                edges[of.at()].push((required, dependent));
            }
        }
    }
    graph.modules().zip(edges).map(|((_, module), edges)| Edges::sorted(module.len(), &edges)).collect()
}
