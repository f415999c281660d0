//! Preparation that every walk over a configuration starts with.

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ProviderConfig};
use groma_diagnostics::Diagnostics;

use crate::config_graph;
use crate::providers::Providers;
use crate::schema_binding::{self, Bodies, BoundBlocks};
use crate::session::Session;
use crate::templates::Templates;

/// Everything about a configuration that plan and apply share.
pub(crate) struct Prepared {
    pub(crate) graph: Arc<config_graph::ConfigGraph>,
    pub(crate) templates: Arc<Templates>,
    /// Errors in `provider_meta` blocks.
    pub(crate) meta_problems: Diagnostics,
}

impl Prepared {
    /// The providers that ephemeral resources need.
    pub(crate) fn ephemeral_providers(&self) -> HashSet<ProviderConfig> {
        let mut found = HashSet::new();
        for (index, module) in self.graph.modules() {
            for (at, address) in module.config.resources.keys().enumerate() {
                if address.mode == ResourceMode::Ephemeral
                    && let Some(template) = self.templates.resource(index, config_graph::narrow(at))
                {
                    found.insert((*template.provider).clone());
                }
            }
        }
        found
    }
}

/// Prepares every block of a configuration with this graph.
pub(crate) fn prepare(
    session: &Session,
    providers: &mut Providers,
    graph: Arc<config_graph::ConfigGraph>,
    bodies: Bodies,
) -> (Prepared, Diagnostics) {
    let BoundBlocks { templates, meta_problems, diagnostics } =
        schema_binding::bind(session, &graph, providers, bodies);
    (Prepared { graph, templates: Arc::new(templates), meta_problems }, diagnostics)
}
