//! `plan`.

use std::sync::{Arc, PoisonError};

use groma_diagnostics::Diagnostics;
use groma_engine::{Hooks, MissingResources, Mode, Run};
use groma_state::LocalStore;

use super::backend::{Elsewhere, active_workspace, in_use, locking, paths_in};
use super::configuration::{Empty, load_to_change};
use super::context::Context;
use super::encryption;
use super::generated;
use super::operation::{
    forgetting_warning, open_state, options, prepare_context, run as new_run, state_flag_warning, watch,
};
use super::outcome::{Outcome, misuse};
use super::planfile::{self, Made};
use super::variables::{Missing, values};
use crate::arguments::{Flag, Plan};
use crate::views::plan::Generated;
use crate::views::progress::Ticker;

pub(super) fn run(context: &mut Context, arguments: &Plan) -> Outcome {
    prepare_context(context, &arguments.planning)?;
    if !arguments.rest.is_empty() {
        return Err(misuse(
            &context.wording.command,
            "plan",
            "Too many command line arguments",
            "Plan works in the current directory. For another one, put the option -chdir=DIRECTORY before the \
             command.",
        ));
    }
    context.show(&state_flag_warning(&arguments.planning));
    let Planned { plan, run, store, made, mut warnings } = planned(context, arguments)?;
    let Some(plan) = plan else { return failed_without_plan(context, &warnings) };
    warnings.append(forgetting_warning(context, &plan));
    show_plan(context, &plan);
    if let Some(path) = &arguments.out {
        let encryption = encryption::of(&run.session().configuration.root)?.plan;
        planfile::write(path, &run, &plan, &made, encryption.as_deref())?;
    }
    drop(store);
    let generated = match &arguments.generate_config_out {
        Some(path) => generated::write(context, path, &plan.generated, &mut warnings),
        None => Generated::Nothing,
    };
    context.show(&warnings);
    if plan.errored || warnings.has_errors() {
        return Ok(1);
    }
    if plan.is_applyable() && context.messages().is_none() {
        let saved = arguments.out.as_ref().map(|path| path.display().to_string());
        let mut out = context.streams.text().lock().unwrap_or_else(PoisonError::into_inner);
        let _ = context.plan_text().write_next_step(saved.as_deref(), &generated, &mut *out);
        let _ = out.flush();
    }
    let reports_changes = arguments.detailed_exitcode.is_some_and(Flag::is_on) && plan.is_applyable();
    // The program ends now: taking large plans and configurations apart would only cost time.
    std::mem::forget(plan);
    run.leave();
    Ok(if reports_changes { 2 } else { 0 })
}

/// A plan, if the configuration allows for one, and what it was made with.
struct Planned {
    plan: Option<groma_engine::Plan>,
    run: Run,
    /// The lock of the state, until everything is written.
    store: LocalStore,
    made: Made,
    /// Errors among them, where there are any.
    warnings: Diagnostics,
}

fn planned(context: &mut Context, arguments: &Plan) -> Result<Planned, Diagnostics> {
    let planning = &arguments.planning;
    let mut options = options(context, planning, "plan")?;
    if let Some(path) = &arguments.generate_config_out {
        options.missing = MissingResources::Generated;
        generated::check(path, options.mode)?;
    }
    let empty = if options.mode == Mode::Destroy { Empty::Fine } else { Empty::NoPlan };
    let (configuration, mut warnings) = load_to_change(context, empty)?;
    context.tell_deprecations(&configuration);
    let elsewhere = Elsewhere { state: planning.state.as_deref(), ..Elsewhere::default() };
    let backend = in_use(context, &configuration.root)?;
    active_workspace(context)?;
    let paths = paths_in(&backend, &configuration.root, &context.settings.workspace, elsewhere)?;
    let (inputs, problems) = values(context, &configuration.root, &planning.variables, Missing::Ask)?;
    warnings.append(problems);
    options.inputs = inputs;
    let made = Made::with(backend, &context.settings.workspace, &configuration.root, &options.inputs);
    let (store, state) = open_state(context, paths, &locking(&planning.locking, "OperationTypePlan"))?;
    let watched = watch(context);
    let hooks: Arc<dyn Hooks> = Arc::clone(&watched.progress) as Arc<dyn Hooks>;
    let mut run = new_run(context, configuration, hooks, planning.parallelism)?;
    let ticker = Ticker::start(watched.progress);
    let (plan, problems) = run.plan(state, &options);
    // Everything is asked: the providers end while the plan is shown and written.
    groma_plugin::client::begin_shutdown_all();
    drop(ticker);
    warnings.append(problems);
    Ok(Planned { plan, run, store, made, warnings })
}

/// Shows a plan in the way the context speaks.
pub(super) fn show_plan(context: &Context, plan: &groma_engine::Plan) {
    context.listeners().for_each(|stream| stream.plan(plan));
    if context.messages().is_none() {
        let mut out = context.streams.text().lock().unwrap_or_else(PoisonError::into_inner);
        // A reader that went away wants to see no more.
        let _ = context.plan_text().write(plan, &mut *out);
        let _ = out.flush();
    }
}

/// Shows errors that prevented any plan.
pub(super) fn failed_without_plan(context: &Context, problems: &Diagnostics) -> Outcome {
    context.show(problems);
    Ok(1)
}
