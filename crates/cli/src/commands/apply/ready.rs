//! The inputs of an apply: a plan of the working directory or a saved one, with what applying it requires.

use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::{Hooks, Input, Mode, Plan, Recovery, Run};
use groma_state::PlanVersions;
use indexmap::IndexMap;

use crate::arguments::Apply;
use crate::commands::backend::{SharedUse, StateHandle, StateOverrides, locking, state_location};
use crate::commands::configuration::{Purpose, load_with_prompts};
use crate::commands::context::Context;
use crate::commands::operation::{OpenState, Watched, forgetting_warning, open_for_planning, options, run as new_run};
use crate::commands::plan::show_plan;
use crate::commands::variables::{Missing, values};
use crate::views::progress::Ticker;

/// The command that applies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Apply,
    Destroy,
    Refresh,
}

/// A plan with everything that applying it requires.
pub(super) struct Ready {
    pub(super) run: Run,
    pub(super) store: StateHandle,
    pub(super) plan: Plan,
    pub(super) inputs: IndexMap<Name, Input>,
    /// The versions of the records that the plan uses, if the state is shared.
    pub(super) versions: Option<PlanVersions>,
    /// Warnings of planning that have not been shown yet.
    pub(super) warnings: Diagnostics,
}

/// Returns the state files that flags select instead of the backend's.
pub(super) fn state_overrides(arguments: &Apply) -> StateOverrides<'_> {
    StateOverrides {
        state: arguments.planning.state.as_deref(),
        state_out: arguments.state_out.as_deref(),
        backup: arguments.backup.as_deref(),
        encryption: None,
    }
}

/// Plans the configuration in the working directory. Returns `None` if planning failed; the errors have been shown then.
pub(super) fn from_directory(
    context: &mut Context,
    arguments: &Apply,
    kind: Kind,
    watched: &Watched,
) -> Result<Option<Ready>, Diagnostics> {
    let planning = &arguments.planning;
    let mut options = options(context, planning, if kind == Kind::Destroy { "destroy" } else { "apply" })?;
    // Destroying without a configuration is legitimate: the state alone says what exists.
    let destroys = options.mode == Mode::Destroy || kind != Kind::Apply;
    let purpose = if destroys { Purpose::Destroy } else { Purpose::Apply };
    let (configuration, mut warnings) = load_with_prompts(context, purpose)?;
    context.filter_deprecations(&configuration);
    let location = state_location(context, &configuration.root, state_overrides(arguments))?;
    let (inputs, problems) = values(context, &configuration.root, &planning.variables, Missing::Ask)?;
    warnings.append(problems);
    options.inputs = inputs;
    let locking = locking(&planning.locking, "OperationTypeApply");
    let OpenState { mut store, mut state, in_flight } =
        open_for_planning(context, location, &locking, SharedUse::Change)?;
    if !in_flight.is_empty() {
        let recorder = store.begin_run(&mut state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        // Operations of an interrupted run are recovered first, because planning needs to know their objects.
        options.recovery = Some(Arc::new(Recovery { in_flight, recorder }));
    }
    // As in Terraform: the usual cause is a wrong directory or workspace.
    if kind == Kind::Refresh && state.iter().next().is_none() {
        let detail = "The state contains no objects, so there is nothing to refresh.";
        warnings.push(Diagnostic::warning("Empty or non-existent state", detail));
    }
    let hooks = Arc::clone(&watched.progress) as Arc<dyn Hooks>;
    let mut run = new_run(context, configuration, hooks, planning.parallelism)?;
    // The ticker redraws the elapsed times until the plan is complete.
    let ticker = Ticker::start(Arc::clone(&watched.progress));
    let (plan, problems) = run.plan(state, &options);
    drop(ticker);
    warnings.append(problems);
    let Some(plan) = plan else {
        context.show(&warnings);
        return Ok(None);
    };
    warnings.append(forgetting_warning(context, &plan));
    // A partial plan of a failed run still shows which objects were planned before the error.
    if kind != Kind::Refresh && !failed_at_once(&plan) {
        show_plan(context, &plan);
    }
    if plan.errored || warnings.has_errors() {
        context.show(&warnings);
        return Ok(None);
    }
    let versions = store.plan_versions(&mut run, &plan);
    Ok(Some(Ready { run, store, plan, inputs: options.inputs, versions, warnings }))
}

/// Whether planning failed before it produced any change worth showing.
fn failed_at_once(plan: &Plan) -> bool {
    let has_no_changes = plan.mode == Mode::RefreshOnly || plan.changes.is_empty();
    plan.errored && plan.outputs.is_empty() && has_no_changes
}
