//! `plan`: shows the changes that an apply would make, and saves them.

use std::sync::{Arc, PoisonError};

use groma_diagnostics::Diagnostics;
use groma_engine::{Hooks, MissingResources, Mode, Run};

use super::backend::{SharedUse, StateHandle, StateOverrides, active_workspace, in_use, location_in, locking};
use super::configuration::{Purpose, load_with_prompts};
use super::context::Context;
use super::encryption;
use super::generated;
use super::operation::{
    OpenState, forgetting_warning, in_flight_warning, open_for_planning, options, prepare_context, run as new_run,
    state_flag_warning, watch,
};
use super::outcome::{Outcome, misuse};
use super::patches::patches;
use super::planfile::{self, Conditions, Made};
use super::variables::{Missing, values};
use crate::arguments::{Flag, Plan};
use crate::views::plan::{Generated, PlanPatches};
use crate::views::progress::Ticker;

pub(super) fn run(context: &mut Context, arguments: &Plan) -> Outcome {
    prepare_context(context, &arguments.planning)?;
    if !arguments.rest.is_empty() {
        return Err(misuse(
            &context.wording.command,
            "plan",
            "Too many command line arguments",
            "The plan command takes no arguments. To plan another directory, put -chdir=DIRECTORY before the \
             command.",
        ));
    }
    context.show(&state_flag_warning(&arguments.planning));
    let Planned { plan, mut run, store, made, mut warnings } = planned(context, arguments)?;
    // Errors without a plan leave nothing to save or to generate.
    let Some(plan) = plan else { return failed_without_plan(context, &warnings) };
    warnings.append(forgetting_warning(context, &plan));
    let patches = match arguments.show_patch.is_some_and(Flag::is_on) {
        true => patches(context, &plan)?,
        false => PlanPatches::default(),
    };
    show_plan_with(context, &plan, patches);
    // A plan with errors is saved too: it can be shown, but not applied.
    if let Some(path) = &arguments.out {
        let encryption = encryption::of(&run.session().configuration.root)?.plan;
        let versions = store.plan_versions(&mut run, &plan);
        let conditions = Conditions { made: &made, versions: versions.as_ref() };
        planfile::write(path, &run, &plan, conditions, encryption.as_deref())?;
    }
    // The lock is released before generated files and advice are written.
    drop(store);
    let generated = match &arguments.generate_config_out {
        Some(path) => generated::write(context, path, &plan.generated, &mut warnings),
        None => Generated::Nothing,
    };
    context.show(&warnings);
    if plan.errored || warnings.has_errors() {
        return Ok(1);
    }
    // The advice to apply is for people.
    if plan.is_applyable() && context.messages().is_none() {
        let saved = arguments.out.as_ref().map(|path| path.display().to_string());
        let mut out = context.streams.text().lock().unwrap_or_else(PoisonError::into_inner);
        let _ = context.plan_text().write_next_step(saved.as_deref(), &generated, &mut *out);
        let _ = out.flush();
    }
    // Terraform returns 2 only if applying would do something.
    let reports_changes = arguments.detailed_exitcode.is_some_and(Flag::is_on) && plan.is_applyable();
    run.stop_providers();
    context.retain((plan, run));
    Ok(if reports_changes { 2 } else { 0 })
}

/// A plan with its inputs. There is no plan if the configuration has errors.
struct Planned {
    plan: Option<groma_engine::Plan>,
    run: Run,
    /// Holds the lock of the state until everything is written.
    store: StateHandle,
    made: Made,
    /// Warnings and errors of planning.
    warnings: Diagnostics,
}

fn planned(context: &mut Context, arguments: &Plan) -> Result<Planned, Diagnostics> {
    let planning = &arguments.planning;
    let mut options = options(context, planning, "plan")?;
    if let Some(path) = &arguments.generate_config_out {
        // Resources with import blocks may lack their block only if it is generated.
        options.missing = MissingResources::Generated;
        // Fails before planning if the target file exists, because a plan may take minutes.
        generated::check(path, options.mode)?;
    }
    // The state alone is enough to destroy, so a directory without files is fine.
    let purpose = if options.mode == Mode::Destroy { Purpose::Destroy } else { Purpose::Plan };
    let (configuration, mut warnings) = load_with_prompts(context, purpose)?;
    context.filter_deprecations(&configuration);
    let overrides = StateOverrides { state: planning.state.as_deref(), ..StateOverrides::default() };
    let backend = in_use(context, &configuration.root)?;
    active_workspace(context)?;
    let connected = backend.connect(context)?;
    let location = location_in(context, &connected, &configuration.root, &context.settings.workspace, overrides)?;
    let (inputs, problems) = values(context, &configuration.root, &planning.variables, Missing::Ask)?;
    warnings.append(problems);
    options.inputs = inputs;
    // Recorded before planning: these are the conditions of the plan, whatever planning does.
    let made = Made::with(&backend, &context.settings.workspace, &configuration.root, &options.inputs);
    let locking = locking(&planning.locking, "OperationTypePlan");
    let OpenState { store, state, in_flight } = open_for_planning(context, location, &locking, SharedUse::Plan)?;
    context.show(&in_flight_warning(&in_flight));
    let watched = watch(context);
    let hooks: Arc<dyn Hooks> = Arc::clone(&watched.progress) as Arc<dyn Hooks>;
    let mut run = new_run(context, configuration, hooks, planning.parallelism)?;
    let ticker = Ticker::start(watched.progress);
    let (plan, problems) = run.plan(state, &options);
    // The provider processes shut down while the plan is shown and written.
    context.plugin_host.begin_shutdown_all();
    drop(ticker);
    warnings.append(problems);
    Ok(Planned { plan, run, store, made, warnings })
}

/// Shows a plan as text or JSON messages.
pub(super) fn show_plan(context: &Context, plan: &groma_engine::Plan) {
    show_plan_with(context, plan, PlanPatches::default());
}

/// Shows a plan with the patches of updates, as text or JSON messages.
fn show_plan_with(context: &Context, plan: &groma_engine::Plan, patches: PlanPatches) {
    for stream in context.json_streams() {
        stream.plan(plan);
        patches.messages(plan).for_each(|message| stream.send(message));
    }
    if context.messages().is_none() {
        let mut out = context.streams.text().lock().unwrap_or_else(PoisonError::into_inner);
        // A closed pipe is no error: the reader has seen enough.
        let _ = context.plan_text().with_patches(patches).write(plan, &mut *out);
        let _ = out.flush();
    }
}

/// Shows the errors that prevented a plan.
pub(super) fn failed_without_plan(context: &Context, problems: &Diagnostics) -> Outcome {
    context.show(problems);
    Ok(1)
}
