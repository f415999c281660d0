//! `apply` and `destroy`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_engine::plan::Counts;
use groma_engine::{Hooks, Input, Mode, Plan, Recorder, Recovery, Run, SavedPlan, UNKNOWN_ASSERTION};
use groma_state::{LocalStore, State, write_errored};
use indexmap::IndexMap;

use super::approval::{Approval, ask};
use super::backend::{Elsewhere, active_workspace, locking, paths_in, state_paths};
use super::beside::beside;
use super::configuration::{Empty, load_to_change};
use super::context::Context;
use super::encryption;
use super::left_open::{deferred_warning, incomplete_warning};
use super::operation::{
    OpenState, Watched, forgetting_warning, open_for_changes, options, prepare_context, run as new_run,
    state_flag_warning, watch,
};
use super::outcome::{Outcome, fail};
use super::output;
use super::plan::show_plan;
use super::planfile::{self, Given};
use super::variables::{Missing, values};
use crate::arguments::{Apply, Destroy, Flag, Planning, Refresh};
use crate::settings::Questions;
use crate::terminal::Tone;
use crate::views::json::Counted;
use crate::views::progress::Ticker;

/// Which of the commands it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Apply,
    Destroy,
    Refresh,
}

pub(super) fn run(context: &mut Context, arguments: Apply) -> Outcome {
    apply(context, arguments, Kind::Apply)
}

pub(super) fn destroy(context: &mut Context, arguments: Destroy) -> Outcome {
    apply(context, arguments.apply, Kind::Destroy)
}

/// Takes in what has changed outside, without showing a plan.
pub(super) fn refresh(context: &mut Context, arguments: Refresh) -> Outcome {
    apply(context, arguments.into_apply(), Kind::Refresh)
}

fn apply(context: &mut Context, mut arguments: Apply, kind: Kind) -> Outcome {
    prepare_context(context, &arguments.planning)?;
    if kind == Kind::Destroy {
        only_destroys(&mut arguments)?;
    }
    let approves_itself = arguments.auto_approve.is_some_and(Flag::is_on);
    let file = saved_plan(&arguments.rest, kind)?;
    if file.is_none() && !approves_itself && context.messages().is_some() {
        return Err(nobody_to_ask(context));
    }
    context.show(&state_flag_warning(&arguments.planning));
    let watched = watch(context);
    let ready = match &file {
        Some(path) => from_file(context, &arguments, path, &watched)?,
        None => from_directory(context, &arguments, kind, &watched)?,
    };
    let Some(mut ready) = ready else { return Ok(1) };
    if file.is_none() && ready.plan.is_applyable() && !approves_itself {
        context.show(&std::mem::take(&mut ready.warnings));
        if ask(context, &ready.plan)? == Approval::Refused {
            return Ok(1);
        }
    }
    let is_partial = ready.plan.is_partial() && kind != Kind::Refresh;
    let incomplete = is_partial.then(|| incomplete_warning(context, &ready.plan));
    let deferred = ready.plan.is_deferring().then(|| deferred_warning(context, &ready.plan));
    let recorder: Arc<dyn Recorder> = ready
        .store
        .begin_run(&mut ready.plan.prior_state)
        .map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    let ticker = Ticker::start(Arc::clone(&watched.progress));
    let mut applied = ready.run.apply(ready.plan, ready.inputs, recorder);
    // Everything is done: the providers end while the state is written.
    groma_plugin::client::end_ahead();
    drop(ticker);
    let mut problems = merged(ready.warnings, std::mem::take(&mut applied.diagnostics));
    save(&mut ready.store, &mut applied.state, &mut problems);
    drop(ready.store);
    problems.append(incomplete);
    problems.append(deferred);
    let failed = problems.has_errors();
    context.show(&problems);
    if failed {
        return Ok(1);
    }
    let elsewhere = arguments.state_out.as_deref();
    finish(context, kind, watched.counter.counts(), &applied.state, elsewhere);
    // The program ends now: taking large states and configurations apart would only cost time.
    std::mem::forget(applied);
    ready.run.leave();
    Ok(0)
}

/// The mode of `destroy` is its name: what else may be said of it says the same.
fn only_destroys(arguments: &mut Apply) -> Result<(), Diagnostics> {
    let planning = &mut arguments.planning;
    if planning.destroy.is_some_and(Flag::is_on) {
        return Err(fail("Invalid mode option", "The destroy command always destroys: leave the option -destroy out."));
    }
    if planning.refresh_only.is_some_and(Flag::is_on) {
        return Err(fail("Invalid mode option", "The destroy command destroys: -refresh-only belongs to apply."));
    }
    planning.destroy = Some(Flag::On);
    Ok(())
}

/// The file of the plan that is to be applied, if one is given. An empty name is none: scripts write `apply "$PLAN"`.
fn saved_plan(rest: &[OsString], kind: Kind) -> Result<Option<PathBuf>, Diagnostics> {
    match rest {
        [] => Ok(None),
        [_, ..] if kind == Kind::Refresh => Err(fail(
            "Too many command line arguments",
            "Refresh works in the current directory and takes options only.",
        )),
        [file] if file.is_empty() => Ok(None),
        [file] if kind == Kind::Apply => Ok(Some(PathBuf::from(file))),
        _ => Err(fail("Too many command line arguments", "Give one file at most: that of a saved plan.")),
    }
}

fn nobody_to_ask(context: &Context) -> Diagnostics {
    let detail = format!(
        "With -json there is nobody whom {} could ask for approval. Apply the file of a saved plan, or approve beforehand with \
         -auto-approve.",
        context.wording.product
    );
    fail("Plan file or auto-approve required", detail)
}

/// Everything that carrying a plan out needs.
struct Ready {
    run: Run,
    store: LocalStore,
    plan: Plan,
    inputs: IndexMap<Name, Input>,
    /// What planning had to say, if nobody was told yet.
    warnings: Diagnostics,
}

/// The problems of planning, then those of applying; what both found is said once. What only apply could tell has been
/// told by now, or its reason has.
fn merged(planning: Diagnostics, applying: Diagnostics) -> Diagnostics {
    let is_news = |one: &Diagnostic| one.summary != UNKNOWN_ASSERTION && applying.iter().all(|other| other != one);
    let mut all: Diagnostics = planning.into_iter().filter(is_news).collect();
    all.append(applying);
    all
}

/// Plans what the directory asks for; nothing when planning failed, which was shown then.
fn from_directory(
    context: &mut Context,
    arguments: &Apply,
    kind: Kind,
    watched: &Watched,
) -> Result<Option<Ready>, Diagnostics> {
    let planning = &arguments.planning;
    let mut options = options(context, planning, if kind == Kind::Destroy { "destroy" } else { "apply" })?;
    let empty = if options.mode == Mode::Destroy || kind != Kind::Apply { Empty::Fine } else { Empty::NoApply };
    let (configuration, mut warnings) = load_to_change(context, empty)?;
    context.tell_deprecations(&configuration);
    let paths = state_paths(context, &configuration.root, elsewhere(arguments))?;
    let (inputs, problems) = values(context, &configuration.root, &planning.variables, Missing::Ask)?;
    warnings.append(problems);
    options.inputs = inputs;
    let OpenState { mut store, mut state, in_flight } =
        open_for_changes(context, paths, &locking(&planning.locking, "OperationTypeApply"))?;
    if !in_flight.is_empty() {
        let recorder = store.begin_run(&mut state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        options.recovery = Some(Arc::new(Recovery { in_flight, recorder }));
    }
    if kind == Kind::Refresh && state.iter().next().is_none() {
        let detail = "The state has no objects, so there is nothing to refresh.";
        warnings.push(Diagnostic::warning("Empty or non-existent state", detail));
    }
    let hooks = Arc::clone(&watched.progress) as Arc<dyn Hooks>;
    let mut run = new_run(context, configuration, hooks, planning.parallelism)?;
    let ticker = Ticker::start(Arc::clone(&watched.progress));
    let (plan, problems) = run.plan(state, &options);
    drop(ticker);
    warnings.append(problems);
    let Some(plan) = plan else {
        context.show(&warnings);
        return Ok(None);
    };
    warnings.append(forgetting_warning(context, &plan));
    if kind != Kind::Refresh && !failed_at_once(&plan) {
        show_plan(context, &plan);
    }
    if plan.errored || warnings.has_errors() {
        context.show(&warnings);
        return Ok(None);
    }
    Ok(Some(Ready { run, store, plan, inputs: options.inputs, warnings }))
}

/// Takes a plan that was saved.
fn from_file(
    context: &mut Context,
    arguments: &Apply,
    path: &Path,
    watched: &Watched,
) -> Result<Option<Ready>, Diagnostics> {
    let planning = &arguments.planning;
    context.show(&options_without_effect(planning));
    if !path.exists() {
        return Err(fail(
            &format!("Failed to load {:?} as a plan file", path.display().to_string()),
            format!("There is no file {}. Make a plan with plan -out={}.", path.display(), path.display()),
        ));
    }
    let encryption = encryption::here(context)?;
    let saved = planfile::read(path, encryption.as_ref().and_then(|methods| methods.plan.as_deref()))?;
    let (configuration, planned) = beside(|| saved.configuration(context), || SavedPlan::read(&saved.plan));
    let ((configuration, mut warnings), planned) = (configuration?, planned?);
    context.tell_deprecations(&configuration);
    let elsewhere = Elsewhere { encryption: encryption.as_ref(), ..elsewhere(arguments) };
    saved.made.check_workspace(&context.settings.workspace, &context.wording.command)?;
    active_workspace(context)?;
    let paths = paths_in(&saved.made.backend, &configuration.root, &context.settings.workspace, elsewhere)?;
    let OpenState { store, state: current, in_flight } =
        open_for_changes(context, paths, &locking(&planning.locking, "OperationTypeApply"))?;
    if !in_flight.is_empty() {
        return Err(fail(
            "Saved plan is stale",
            "An earlier run was killed while it was changing objects, and what became of them must be asked first. Run apply \
             without a saved plan, or make a new plan after that.",
        ));
    }
    let prior = saved.state.wait()?;
    // What was planned without a state may begin any.
    let is_another = prior.serial != 0 && current.lineage != prior.lineage;
    if is_another {
        return Err(fail(
            "Saved plan does not match the given state",
            "The plan was made of another state, or of one that is gone. Nothing was done; make a new plan, or apply this one where \
             its state is.",
        ));
    }
    let is_unchanged = current.serial == prior.serial && (current.lineage == prior.lineage || current.serial == 0);
    if !is_unchanged {
        return Err(fail(
            "Saved plan is stale",
            "The state has changed since this plan was made, so the plan may do something else now than what was \
             reviewed. Nothing was done; make a new plan.",
        ));
    }
    let questions = std::mem::replace(&mut context.settings.questions, Questions::Forbidden);
    let (given, problems) = values(context, &configuration.root, &planning.variables, Missing::Leave)?;
    warnings.append(problems);
    context.settings.questions = questions;
    warnings.append(saved.made.check_ephemeral(&configuration.root, &given));
    if warnings.has_errors() {
        return Err(warnings);
    }
    let again = planfile::ephemeral(&configuration.root, &given);
    let mut inputs: Given = again.map(|(name, input)| (name.clone(), input.clone())).collect();
    let hooks = Arc::clone(&watched.progress) as Arc<dyn Hooks>;
    let mut run = new_run(context, configuration, hooks, planning.parallelism)?;
    let plan = run.load_to_apply(planned, prior)?;
    if let Some(problem) = plan.refusal() {
        return Err(problem.into());
    }
    context.listeners().for_each(|stream| stream.changes_to_apply(&plan));
    for variable in &plan.variables {
        inputs.insert(variable.name.clone(), Input { value: variable.value.clone(), span: Span::NONE });
    }
    Ok(Some(Ready { run, store, plan, inputs, warnings }))
}

/// Terraform does not even say so, and wrappers give all commands the same options.
fn options_without_effect(planning: &Planning) -> Diagnostics {
    // Programs that drive the command line give -refresh with saved plans too, where it says nothing.
    let plans_anew = planning.destroy.is_some() || planning.refresh_only.is_some();
    let aims = !planning.target.is_empty() || !planning.focus.is_empty() || !planning.replace.is_empty();
    if !plans_anew && !aims {
        return Diagnostics::new();
    }
    let detail = "A saved plan is carried out as it is: options that change what is planned belong to the plan command, \
                  and have no effect here.";
    Diagnostic::warning("Planning options with a saved plan", detail).into()
}

fn elsewhere(arguments: &Apply) -> Elsewhere<'_> {
    Elsewhere {
        state: arguments.planning.state.as_deref(),
        state_out: arguments.state_out.as_deref(),
        backup: arguments.backup.as_deref(),
        encryption: None,
    }
}

/// Writes the state; a state that cannot be written there goes into a file beside.
fn save(store: &mut LocalStore, state: &mut State, problems: &mut Diagnostics) {
    let Err(problem) = store.save(state) else { return };
    let rescue = match write_errored(Path::new("."), state, store.paths().encryption.as_deref()) {
        Ok(path) => format!(
            "The state was written to {} instead; nothing is lost. Mend the cause, then put it in place.",
            path.display()
        ),
        Err(second) => format!(
            "It could not be written elsewhere either: {}. What was done is still in the journal beside the state file; the next run takes \
             it up.",
            second.summary
        ),
    };
    problems.push(Diagnostic::error(
        "Failed to save state",
        format!("{}: {}\n\n{rescue}", problem.summary, problem.detail),
    ));
}

/// Says what was done, and where the state is if the flags have put it `elsewhere`.
fn finish(context: &Context, kind: Kind, counts: Counts, state: &State, elsewhere: Option<&Path>) {
    for stream in context.listeners() {
        match kind {
            Kind::Destroy => stream.counts(counts, Counted::Destroy),
            Kind::Refresh => stream.outputs(output::stream_json(state)),
            Kind::Apply => {
                stream.counts(counts, Counted::Apply);
                stream.outputs(output::stream_json(state));
            }
        }
    }
    if context.messages().is_some() {
        return;
    }
    let palette = context.palette();
    let text = match kind {
        Kind::Refresh => String::new(),
        Kind::Destroy => format!("Destroy complete! Resources: {} destroyed.", counts.destroy),
        Kind::Apply => format!(
            "Apply complete! Resources: {}{} added, {} changed, {} destroyed.{}",
            if counts.import > 0 { format!("{} imported, ", counts.import) } else { String::new() },
            counts.add,
            counts.change,
            counts.destroy,
            if counts.invoke > 0 { format!(" Actions: {} invoked.", counts.invoke) } else { String::new() }
        ),
    };
    if !text.is_empty() {
        context.streams.print(&format!("\n{}\n", palette.paint(Tone::BoldGreen, text)));
    }
    if let Some(path) = elsewhere.filter(|_| kind == Kind::Apply && counts.add + counts.change > 0) {
        context.streams.print(&format!(
            "\nThe state was not written to its usual place, but to this file. Keep it: whoever changes or destroys what was\n\
             made needs it.\n\nState path: {}\n",
            path.display()
        ));
    }
    if kind != Kind::Destroy && !state.outputs.is_empty() {
        let title = palette.paint(Tone::BoldGreen, "Outputs:");
        context.streams.print(&format!("\n{title}\n\n{}", output::list(state, context.secrecy)));
    }
}

/// Whether planning failed with nothing that could be shown beside the error.
fn failed_at_once(plan: &Plan) -> bool {
    let has_looked = plan.mode == Mode::RefreshOnly || plan.changes.is_empty();
    plan.errored && plan.outputs.is_empty() && has_looked
}
