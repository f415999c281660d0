//! What a plan is made from.

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::ProviderConfig;
use groma_plan::Mode;
use groma_state::State;

use super::imports;
use super::reach::DestroyScope;
use super::targets::Included;
use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex};
use crate::options::{Deferral, PlanOptions};
use crate::session::Session;
use crate::templates::{Template, Templates};
use crate::world::{ModuleId, World};

/// The read-only inputs of a plan, and data derived from them before the walk begins.
///
/// Owns the configuration graph, the target set, the part of the configuration that a destroy plan needs, the order of
/// replacements that dependents force, and the set of provider configurations in use. All of it is worked out once, from
/// the configuration, the options and the state as moves have left it, and never changes while planning.
///
/// It holds no values and no objects: values are in the world, objects in the state. Functions that only decide whether
/// or how something is planned take `&Inputs`; what `session`, `options` and `templates` return outlives the borrow, so
/// that it can be held while other parts of the planner change.
pub(super) struct Inputs<'a> {
    session: &'a Session,
    options: &'a PlanOptions,
    graph: Arc<ConfigGraph>,
    templates: &'a Templates,
    /// None unless the plan is a partial one.
    targets: Option<Included>,
    /// None unless everything is destroyed.
    destroy_needs: Option<DestroyScope>,
    /// By module and node.
    forced_create_before_destroy: Vec<Vec<bool>>,
    used_providers: HashSet<ProviderConfig>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(
        session: &'a Session,
        options: &'a PlanOptions,
        templates: &'a Templates,
        graph: &Arc<ConfigGraph>,
        state: &State,
    ) -> Self {
        let targets = Included::new(graph, options, state);
        // Computed with the targets, since a partial destroy needs only the providers of its objects.
        let destroy_needs = (options.mode == Mode::Destroy).then(|| DestroyScope::of(graph, state, targets.as_ref()));
        Self {
            session,
            options,
            graph: Arc::clone(graph),
            templates,
            targets,
            destroy_needs,
            forced_create_before_destroy: crate::config_graph::forced_create_before_destroy(graph),
            used_providers: used_providers(session, options, templates, graph, state),
        }
    }

    pub(super) fn session(&self) -> &'a Session {
        self.session
    }

    pub(super) fn options(&self) -> &'a PlanOptions {
        self.options
    }

    pub(super) fn mode(&self) -> Mode {
        self.options.mode
    }

    pub(super) fn deferral(&self) -> Deferral {
        self.options.deferral
    }

    pub(super) fn graph(&self) -> &Arc<ConfigGraph> {
        &self.graph
    }

    pub(super) fn templates(&self) -> &'a Templates {
        self.templates
    }

    /// The schema binding of a resource of a module instance; none where its block cannot be planned.
    pub(super) fn template(&self, world: &World, module: ModuleId, resource: u32) -> Option<Arc<Template>> {
        self.templates.resource(world.module(module).of, resource).cloned()
    }

    /// The target set of a partial plan; none where everything is planned.
    pub(super) fn targets(&self) -> Option<&Included> {
        self.targets.as_ref()
    }

    /// What a plan that destroys everything needs of the configuration; none for other plans.
    pub(super) fn destroy_needs(&self) -> Option<&DestroyScope> {
        self.destroy_needs.as_ref()
    }

    /// Whether something may be done with a provider configuration in this run.
    pub(super) fn uses_provider(&self, config: &ProviderConfig) -> bool {
        self.used_providers.contains(config)
    }

    /// The provider configurations that something may be done with.
    pub(super) fn used_providers(&self) -> &HashSet<ProviderConfig> {
        &self.used_providers
    }

    /// Whether replacements of a resource create first because of its own block or a dependent's (PL-11, OD-09).
    pub(super) fn is_forced_to_create_first(&self, index: ModuleIndex, node: NodeIndex) -> bool {
        let forced = self.forced_create_before_destroy.get(index.at()).and_then(|nodes| nodes.get(node.at()));
        forced.copied().unwrap_or(false)
    }
}

fn used_providers(
    session: &Session,
    options: &PlanOptions,
    templates: &Templates,
    graph: &ConfigGraph,
    state: &State,
) -> HashSet<ProviderConfig> {
    let in_flight: Vec<_> = options.recovery.iter().flat_map(|recovery| &recovery.in_flight).collect();
    if options.mode == Mode::Destroy && state.is_empty() && in_flight.is_empty() {
        // Without objects to destroy, a provider that cannot be configured is no problem.
        return HashSet::new();
    }
    let mut used: HashSet<ProviderConfig> =
        templates.resource_blocks().map(|template| (*template.provider).clone()).collect();
    // Actions may need a provider that no resource uses.
    used.extend(templates.action_blocks().map(|template| (*template.provider).clone()));
    used.extend(state.resources().map(|(_, entry)| (*entry.provider).clone()));
    // An instance of a provider block is configured by its block, so the block counts as used.
    used.extend(state.provider_instances().map(ProviderConfig::block));
    used.extend(imports::providers(session, options));
    used.extend(graph.function_providers().iter().cloned());
    // Calls of a killed run are repeated by their provider before anything else.
    used.extend(in_flight.into_iter().map(|begin| begin.provider.block()));
    used
}
