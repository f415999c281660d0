//! Making a plan.

mod converse;
mod data;
mod event;
pub(crate) mod expand;
mod finish;
mod ignore;
mod import;
mod invocations;
mod lists;
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

use groma_address::{Mode as ResourceMode, ModuleInstance, ProviderConfig, Target};
use groma_diagnostics::Diagnostics;
use groma_state::State;

pub(crate) use ignore::{Ignore, ignore_changes};

use crate::config_graph;
use crate::options::{PlanOptions, Refresh};
use crate::plan::Plan;
use crate::providers::Providers;
use crate::search::Searched;
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
    match walk(session, providers, prepared, state, options).await {
        Ok(planner) => {
            let (plan, problems, spent) = planner.finish();
            (Some(plan), problems, Some(spent))
        }
        Err(diagnostics) => (None, diagnostics, None),
    }
}

/// Plans what the list blocks of the root module stand on, and searches with them.
pub(crate) async fn query(
    session: &Session,
    providers: &mut Providers,
    prepared: &Prepared,
    state: State,
    options: PlanOptions,
) -> (Vec<Searched>, Diagnostics, Option<Spent>) {
    let root = session.configuration.root.resources.keys();
    let lists = root.filter(|address| address.mode == ResourceMode::List);
    let targets = lists.map(|address| Target::Resource(address.absolute(ModuleInstance::root()))).collect();
    let options = PlanOptions { targets, refresh: Refresh::Trust, ..options };
    match walk(session, providers, prepared, state, &options).await {
        Ok(planner) => {
            let (searched, problems, spent) = planner.finish_search();
            (searched, problems, Some(spent))
        }
        Err(diagnostics) => (Vec::new(), diagnostics, None),
    }
}

/// The walk, when it has ended.
async fn walk<'a>(
    session: &'a Session,
    providers: &'a mut Providers,
    prepared: &'a Prepared,
    state: State,
    options: &'a PlanOptions,
) -> Result<Planner<'a>, Diagnostics> {
    let mut diagnostics = validate(session, &prepared.graph, &prepared.templates, providers).await;
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    // What was only a warning here will be found again with values.
    let mut state = state;
    let (mut moves, mut problems) = moves::apply(&prepared.graph, &mut state);
    if !problems.has_errors() {
        problems.append(move_types::convert(prepared, providers, &mut moves, &mut state).await);
    }
    if problems.has_errors() {
        diagnostics.append(problems);
        return Err(diagnostics);
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
    Ok(planner)
}
