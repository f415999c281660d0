//! Planning: from the configuration, the state and the providers' answers to a plan.

mod data;
mod deferral;
mod evaluated;
mod event;
pub(crate) mod expand;
mod finish;
mod gone_module;
mod ignore;
mod import_blocks;
mod imports;
mod inputs;
mod instances;
mod invocations;
mod lists;
mod managed;
mod managers;
mod order;
mod orphans;
mod pending;
mod plan_builder;
mod plan_call;
mod planner;
mod reach;
mod relevant;
mod results;
mod schedule;
mod targets;
mod triggers;

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ModuleInstance, Target};
use groma_diagnostics::{Diagnostics, Severity};
use groma_plan::{Mode, Plan};
use groma_state::State;

pub(crate) use ignore::{Ignore, evaluate_ignore_changes, ignore_changes};

use crate::evaluation::Evaluation;
use crate::hooks::Searched;
use crate::options::{PlanOptions, Refresh};
use crate::prepared::Prepared;
use crate::providers::Providers;
use crate::session::Session;
use crate::validate::{DeclaredSecrets, validate};
use crate::world::{SharedContext, World};
use crate::{deprecation, move_types, moves};
use planner::{Parts, Planner};

/// Memory of a walk that is no longer used.
pub(crate) type Spent = Box<dyn std::any::Any + Send>;

/// Number of objects from which on dependencies are computed on another thread.
const MANY: usize = 1000;

/// Plans one run. An invalid configuration yields no plan; any other error yields a plan that is marked as errored.
pub(crate) async fn plan(
    session: &Session,
    providers: &mut Providers,
    prepared: &Prepared,
    state: State,
    options: &PlanOptions,
) -> (Option<Plan>, Diagnostics, Option<Spent>) {
    if state.len() >= MANY && options.mode != Mode::Destroy {
        prepared.graph.compute_ancestors_ahead();
    }
    match ready(session, providers, prepared, state, options).await {
        Ok((mut planner, warnings)) => {
            // The import command always targets one object, so it needs no warning about targeting.
            let mut problems = match options.import {
                Some(_) => Diagnostics::new(),
                None => targets::partial(options),
            };
            let untargeted = planner.moves.untargeted_error(&options.targets);
            if let Some(problem) = untargeted.or_else(|| planner.moves.excluded_error(&options.excludes)) {
                problems.push(problem);
                return (None, problems, None);
            }
            planner.run().await;
            // A destroy plan destroys the objects of the state whatever the configuration declares.
            if options.mode != Mode::Destroy {
                planner.evaluation.diagnostics.append(planner.moves.still_declared_errors(&planner.world));
            }
            let (plan, mut found, spent) = finish::finish(planner);
            deprecation::complete(&mut found, warnings);
            problems.append(found);
            (Some(plan), problems, Some(spent))
        }
        Err(diagnostics) => (None, diagnostics, None),
    }
}

/// Plans the dependencies of the list blocks in the root module, and runs their searches.
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
    match ready(session, providers, prepared, state, &options).await {
        Ok((mut planner, _)) => {
            planner.run().await;
            let (searched, problems, spent) = finish::finish_search(planner);
            (searched, problems, Some(spent))
        }
        Err(diagnostics) => (Vec::new(), diagnostics, None),
    }
}

/// Prepares the walk: validates the configuration, applies moves to the state, and returns the planner with earlier warnings.
async fn ready<'a>(
    session: &'a Session,
    providers: &'a mut Providers,
    prepared: &'a Prepared,
    state: State,
    options: &'a PlanOptions,
) -> Result<(Planner<'a>, Diagnostics), Diagnostics> {
    let mut diagnostics = match options.import {
        // The import command accepts an address whose block is written only afterwards.
        Some(_) => Diagnostics::new(),
        None => {
            let secrets = DeclaredSecrets::LeftToThePlan;
            validate(session, &prepared.graph, &prepared.templates, providers, secrets).await
        }
    };
    diagnostics.append(prepared.meta_problems.clone());
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }

    let mut state = state;
    let (mut moves, mut problems) = moves::apply(&prepared.graph, &mut state);
    if !problems.has_errors() {
        problems.append(move_types::convert(prepared, providers, &mut moves, &mut state).await);
    }
    if problems.has_errors() {
        diagnostics.append(problems);
        return Err(diagnostics);
    }
    let mut evaluation = Evaluation::planning(session, options.inputs.clone());
    if options.mode == Mode::RefreshOnly {
        evaluation.unmet = Severity::Warning;
    }
    evaluation.diagnostics.append(problems);
    deprecation::report_deprecated_inputs(&session.configuration.root, &options.inputs, &mut evaluation.diagnostics);
    let parts = Parts {
        session,
        options,
        templates: &prepared.templates,
        providers,
        world: World::new(Arc::clone(&prepared.graph), SharedContext::new(session, &prepared.templates)),
        state,
        moves,
        evaluation,
    };
    Ok((Planner::new(parts), diagnostics))
}
