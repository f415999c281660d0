//! The resources of a configuration and what each stands on, for those who draw it.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use groma_address::{ConfigResource, Mode};
use groma_config::Configuration;
use groma_diagnostics::Diagnostics;
use groma_state::{Dependencies, State, text_order};

use super::ConfigGraph;

/// A resource with those it depends on directly: what follows from another dependency is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceDependencies {
    /// The resource.
    pub resource: ConfigResource,
    /// What it depends on.
    pub depends_on: Vec<ConfigResource>,
}

/// The resources of all modules, those of the root module first; what only the state still has stands on nothing.
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
    let of = |resource: &ConfigResource| {
        graph.find_resource(resource).map(|(module, node)| graph.ancestors().of(module, node)).unwrap_or_default()
    };
    let mut resources: Vec<ConfigResource> = configuration
        .modules()
        .into_iter()
        .flat_map(|module| module.resources.keys().map(|resource| resource.in_module(module.path.clone())))
        .collect();
    let recorded = state.iter().map(|one| one.resource.resource.in_module(one.resource.module.path()));
    resources.extend(recorded.filter(|resource| graph.find_resource(resource).is_none()));
    resources.sort_by(reading_order);
    resources.dedup();
    let all = resources.into_iter().map(|resource| {
        let depends_on = direct(&of(&resource), &of);
        ResourceDependencies { resource, depends_on }
    });
    Ok(all.collect())
}

/// Those of `all` that no other of them depends on.
fn direct(all: &Dependencies, of: &impl Fn(&ConfigResource) -> Dependencies) -> Vec<ConfigResource> {
    let mut sets: Vec<(&ConfigResource, Dependencies)> = all.iter().map(|one| (one, of(one))).collect();
    // Whoever depends on the most comes first, so that what follows from it is known when its turn comes.
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
