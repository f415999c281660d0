//! Making a plan.

mod converse;
mod data;
mod event;
pub(crate) mod expand;
mod finish;
mod ignore;
mod import;
mod invocations;
pub(crate) mod managed;
mod missing;
mod order;
mod orphans;
mod planner;
mod relevant;
mod targets;
mod triggers;
mod wanted;

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ProviderConfig};
use groma_diagnostics::Diagnostics;
use groma_state::State;

pub(crate) use ignore::{Ignore, ignore_changes};

use crate::config_graph;
use crate::options::PlanOptions;
use crate::plan::Plan;
use crate::providers::Providers;
use crate::session::Session;
use crate::templates::Templates;
use crate::validate::validate;
use crate::world::World;
use crate::{move_types, moves};
use planner::{Parts, Planner};

/// Everything about a configuration that plan and apply share.
pub(crate) struct Prepared {
    pub(crate) graph: Arc<config_graph::ConfigGraph>,
    pub(crate) templates: Templates,
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

/// What a walk worked with and nobody needs any more.
pub(crate) type Spent = Box<dyn std::any::Any>;

/// Builds the configuration graph and prepares every block.
pub(crate) fn prepare(session: &Session, providers: &mut Providers) -> (Prepared, Diagnostics) {
    let (graph, mut diagnostics) = config_graph::build(&session.configuration);
    let (templates, problems) = Templates::prepare(session, &graph, providers);
    diagnostics.append(problems);
    (Prepared { graph: Arc::new(graph), templates }, diagnostics)
}

/// Plans, and gives what it worked with. There is no plan when the configuration is wrong; there is one marked as errored when something else is.
pub(crate) async fn plan(
    session: &Session,
    providers: &mut Providers,
    prepared: &Prepared,
    state: State,
    options: &PlanOptions,
) -> (Option<Plan>, Diagnostics, Option<Spent>) {
    let mut diagnostics = Diagnostics::new();
    diagnostics.append(validate(session, &prepared.graph, &prepared.templates, providers).await);
    if diagnostics.has_errors() {
        return (None, diagnostics, None);
    }
    // What was only a warning here will be found again with values.
    let mut state = state;
    let (mut moves, mut problems) = moves::apply(&prepared.graph, &mut state);
    if !problems.has_errors() {
        problems.append(move_types::convert(prepared, providers, &mut moves, &mut state).await);
    }
    if problems.has_errors() {
        diagnostics.append(problems);
        return (None, diagnostics, None);
    }
    let mut evaluation = session.evaluation(options.inputs.clone());
    evaluation.diagnostics.append(problems);
    let parts = Parts {
        session,
        options,
        templates: &prepared.templates,
        providers,
        world: World::new(Arc::clone(&prepared.graph), session.surroundings(prepared.templates.functions())),
        state,
        moves,
        evaluation,
    };
    let mut planner = Planner::new(parts);
    planner.run().await;
    let (plan, problems, spent) = planner.finish();
    (Some(plan), problems, Some(spent))
}
