//! Planning: from the configuration, the state and the providers' answers to a plan.

mod checked_data;
mod conversation;
mod converse;
mod cycle;
mod data;
mod deferral;
mod destroying;
mod draft;
mod drafts;
mod evaluated;
mod event;
pub(crate) mod expand;
mod finish;
mod gone_module;
mod ignore;
mod import;
mod instances;
mod invocations;
mod later;
mod left_over;
mod list_talk;
mod lists;
mod lost;
mod managed;
mod managers;
mod missing;
mod notes;
mod order;
mod orphans;
mod pending;
mod places;
mod planner;
mod provider_blocks;
mod reach;
mod relevant;
mod remaining_data;
mod standing;
mod targets;
mod triggers;
mod wanted;

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ModuleInstance, Target};
use groma_diagnostics::{Diagnostics, Severity};
use groma_state::State;

pub(crate) use ignore::{Ignore, ignore_changes, ignored};

use crate::ahead::ask_ahead;
use crate::options::{PlanOptions, Refresh};
use crate::plan::{Mode, Plan};
use crate::prepared::Prepared;
use crate::providers::Providers;
use crate::search::Searched;
use crate::session::Session;
use crate::validate::{DeclaredSecrets, validate};
use crate::world::{Surroundings, World};
use crate::{deprecation, move_types, moves};
use planner::{Parts, Planner};

/// Memory of a walk that is no longer used.
pub(crate) type Spent = Box<dyn std::any::Any>;

/// Number of objects from which on dependencies are computed on another thread.
const MANY: usize = 1000;

/// Plans, and gives what it worked with. There is no plan when the configuration is wrong; there is one marked as errored when something else is.
pub(crate) async fn plan(
    session: &Session,
    providers: &mut Providers,
    prepared: &Prepared,
    state: State,
    options: &PlanOptions,
) -> (Option<Plan>, Diagnostics, Option<Spent>) {
    if state.len() >= MANY && options.mode != Mode::Destroy {
        ask_ahead(&prepared.graph);
    }
    match ready(session, providers, prepared, state, options).await {
        Ok((mut planner, warnings)) => {
            // An import is about one object anyway.
            let mut told = match options.import {
                Some(_) => Diagnostics::new(),
                None => targets::partial(options),
            };
            let left_out = planner.moves.left_out(&options.targets);
            if let Some(problem) = left_out.or_else(|| targets::moved(&planner.moves, &options.excludes)) {
                told.push(problem);
                return (None, told, None);
            }
            planner.run().await;
            // What is to be destroyed is what the state has, whatever is declared.
            if options.mode != Mode::Destroy {
                planner.evaluation.diagnostics.append(planner.moves.still_declared(&planner.world));
            }
            let (plan, mut problems, spent) = planner.finish();
            deprecation::complete(&mut problems, warnings);
            told.append(problems);
            (Some(plan), told, Some(spent))
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
            let (searched, problems, spent) = planner.finish_search();
            (searched, problems, Some(spent))
        }
        Err(diagnostics) => (Vec::new(), diagnostics, None),
    }
}

/// The walk, before it begins, and what was warned of before.
async fn ready<'a>(
    session: &'a Session,
    providers: &'a mut Providers,
    prepared: &'a Prepared,
    state: State,
    options: &'a PlanOptions,
) -> Result<(Planner<'a>, Diagnostics), Diagnostics> {
    let mut diagnostics = match options.import {
        // The block is often written after the import.
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
    // What was only a warning here will be found again with values, but for what no plan evaluates.
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
    if options.mode == Mode::RefreshOnly {
        evaluation.unmet = Severity::Warning;
    }
    evaluation.diagnostics.append(problems);
    deprecation::tell_inputs(&session.configuration.root, &options.inputs, &mut evaluation.diagnostics);
    let parts = Parts {
        session,
        options,
        templates: &prepared.templates,
        providers,
        world: World::new(Arc::clone(&prepared.graph), Surroundings::new(session, &prepared.templates)),
        state,
        moves,
        evaluation,
    };
    Ok((Planner::new(parts), diagnostics))
}
