//! Dependencies between the resources of a configuration, for tools that draw them.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groma_address::{ConfigResource, Mode, ModulePath};
use groma_config::Configuration;
use groma_diagnostics::Diagnostics;
use groma_state::{Dependencies, State, text_order};

use super::ConfigGraph;

/// A resource with its direct dependencies; transitive ones are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceDependencies {
    /// The address of the resource.
    pub resource: ConfigResource,
    /// The resources that it depends on directly.
    pub depends_on: Vec<ConfigResource>,
}

/// Returns the resources of all modules, those of the root module first. Orphans have no dependencies. Resources that are only imported
/// so far are included.
///
/// # Errors
/// The references lead in a circle.
pub fn resource_dependencies(
    configuration: &Arc<Configuration>,
    state: &State,
) -> Result<Vec<ResourceDependencies>, Diagnostics> {
    let graph = ConfigGraph::new(configuration);
    let diagnostics = graph.check();
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let imported = only_imported(&graph, configuration);
    let of = |resource: &ConfigResource| match graph.find_resource(resource) {
        Some((module, node)) => graph.ancestors().of(module, node),
        None => imported.get(resource).cloned().unwrap_or_default(),
    };
    let mut resources: Vec<ConfigResource> = configuration
        .modules()
        .into_iter()
        .flat_map(|module| module.resources.keys().map(|resource| resource.in_module(module.path.clone())))
        .collect();
    let recorded = state.iter().map(|one| one.resource.resource.in_module(one.resource.module.path()));
    resources.extend(recorded.filter(|resource| graph.find_resource(resource).is_none()));
    resources.extend(imported.keys().cloned());
    resources.sort_by(reading_order);
    resources.dedup();
    let all = resources.into_iter().map(|resource| {
        let depends_on = direct(&of(&resource), &of);
        ResourceDependencies { resource, depends_on }
    });
    Ok(all.collect())
}

/// Returns the targets of import blocks without a resource block, with the references of those import blocks.
fn only_imported(graph: &ConfigGraph, configuration: &Configuration) -> HashMap<ConfigResource, Dependencies> {
    let mut found: HashMap<ConfigResource, Dependencies> = HashMap::new();
    let Some(root) = graph.find(&ModulePath::default()) else { return found };
    for (at, import) in configuration.root.imports.iter().enumerate() {
        if graph.find_resource(&import.to).is_none() {
            let needed = graph.ancestors().of(root, graph.module(root).import(at));
            let before = found.entry(import.to.clone()).or_default();
            *before = Dependencies::new(before.iter().chain(needed.iter()).cloned());
        }
    }
    found
}

/// Returns the elements of `all` that no other element depends on.
fn direct(all: &Dependencies, of: &impl Fn(&ConfigResource) -> Dependencies) -> Vec<ConfigResource> {
    let mut sets: Vec<(&ConfigResource, Dependencies)> = all.iter().map(|one| (one, of(one))).collect();
    // Sets with the most dependencies come first, so that transitive ones are known when their turn comes.
    sets.sort_by_key(|(_, set)| std::cmp::Reverse(set.len()));
    let mut follows: HashSet<ConfigResource> = HashSet::new();
    let mut direct = Vec::new();
    for (resource, set) in &sets {
        if !follows.contains(*resource) {
            direct.push((*resource).clone());
            follows.extend(set.iter().cloned());
        }
    }
    direct.sort_by(reading_order);
    direct
}

/// Module by module in the order of their addresses' text, the root module first; in each, data comes before what is managed.
fn reading_order(one: &ConfigResource, other: &ConfigResource) -> Ordering {
    fn module(resource: &ConfigResource) -> impl Iterator<Item = u8> + '_ {
        let steps = resource.module.steps().iter();
        steps.flat_map(|name| [".module.", &**name]).flat_map(str::bytes)
    }
    fn is_managed(resource: &ConfigResource) -> bool {
        resource.resource.mode == Mode::Managed
    }
    module(one)
        .cmp(module(other))
        .then_with(|| is_managed(one).cmp(&is_managed(other)))
        .then_with(|| text_order(one, other))
}
