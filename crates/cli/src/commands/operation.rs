//! Common parts of plan and apply: the engine run, its progress reports, its state.

use std::sync::{Arc, Weak};

use groma_address::{InstanceKey, ResourceInstance};
use groma_config::Configuration;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::{Action, Deferral, Hooks, InvokeTarget, Mode, Plan, PlanOptions, Refresh, Run};
use groma_state::{Begin, DamagedJournal, LocalStore, Locking, Opened, State, StatePaths};

use super::backend::unless_off;
use super::context::{Context, Telling};
use super::encryption;
use super::outcome::fail;
use super::packages::Packages;
use super::provider_source::Included;
use super::session::{DEFAULT_PARALLELISM, Watch, session};
use super::targeting::{self, Targets, parsed};
use crate::arguments::{Flag, Planning};
use crate::settings::{Questions, TERRAFORM_VERSION};
use crate::terminal::{Overlay, Palette};
use crate::views::progress::{Counter, Counting, LineProgress, LiveProgress, MessageProgress, Progress, Twofold};

/// Progress of a run, and what it has counted.
pub(super) struct Watched {
    pub progress: Arc<dyn Progress>,
    pub counter: Arc<Counter>,
}

/// The progress that suits the output.
pub(super) fn watch(context: &Context) -> Watched {
    let counter = Arc::new(Counter::default());
    let out = Arc::clone(context.streams.text());
    let palette = context.palette();
    let progress: Arc<dyn Progress> = match (context.messages(), context.progress, palette) {
        (Some(stream), ..) => Arc::new(MessageProgress::new(stream.clone(), Arc::clone(&counter))),
        (None, Telling::LeftOut, _) => Arc::new(Counting::new(Arc::clone(&counter))),
        (None, Telling::Told, Palette::Ansi) => {
            let (bare, columns) = (Arc::clone(context.streams.bare()), context.streams.output.columns());
            let live = Arc::new(LiveProgress::new(palette, columns, bare, Arc::clone(&counter)));
            let overlay: Weak<dyn Overlay> = Arc::downgrade(&(Arc::clone(&live) as Arc<dyn Overlay>));
            context.streams.print_above(overlay);
            live
        }
        (None, Telling::Told, Palette::Plain) => Arc::new(LineProgress::new(palette, out, Arc::clone(&counter))),
    };
    let progress: Arc<dyn Progress> = match context.aside() {
        Some(stream) => Arc::new(Twofold([progress, Arc::new(MessageProgress::new(stream.clone(), Arc::default()))])),
        None => progress,
    };
    Watched { progress: context.log.watch(progress), counter }
}

/// Progress as lines or messages, for a command whose result is in them.
pub(super) fn watch_lines(context: &Context) -> Arc<dyn Progress> {
    let counter = Arc::new(Counter::default());
    match context.messages() {
        Some(stream) => Arc::new(MessageProgress::new(stream.clone(), counter)),
        None => Arc::new(LineProgress::new(context.palette(), Arc::clone(context.streams.text()), counter)),
    }
}

/// Creates a run for `configuration`, and shows warnings about its providers.
pub(super) fn run(
    context: &mut Context,
    configuration: Configuration,
    hooks: Arc<dyn Hooks>,
    parallelism: i64,
) -> Result<Run, Diagnostics> {
    let packages = installed(context, &configuration)?;
    context.show(&packages.warning());
    run_with(context, configuration, packages, hooks, parallelism)
}

/// Creates a run without progress reports, for commands whose output programs read.
pub(super) fn quiet_run(
    context: &mut Context,
    configuration: Configuration,
    hooks: Arc<dyn Hooks>,
    parallelism: i64,
) -> Result<Run, Diagnostics> {
    let packages = installed(context, &configuration)?;
    run_with(context, configuration, packages, hooks, parallelism)
}

/// Returns the providers that are available for `configuration`.
fn installed(context: &Context, configuration: &Configuration) -> Result<Packages, Diagnostics> {
    let packages = Packages::of(context, configuration)?;
    match packages.missing() {
        Some(missing) => Err(missing.clone().into()),
        None => Ok(packages),
    }
}

/// A run over `configuration` with the providers in `packages`.
pub(super) fn run_with(
    context: &mut Context,
    configuration: Configuration,
    packages: Packages,
    hooks: Arc<dyn Hooks>,
    parallelism: i64,
) -> Result<Run, Diagnostics> {
    // An encryption block with errors is reported where states are opened.
    let remote = encryption::of(&configuration.root).unwrap_or_default().remote;
    let providers = Included::unless(packages).with_encryption(remote);
    let cancellation = context.interrupts()?.cancellation().clone();
    let parallelism = usize::try_from(parallelism).ok().filter(|number| *number > 0).unwrap_or(DEFAULT_PARALLELISM);
    session(context, configuration, providers, Watch { hooks, cancellation, parallelism }).map(Run::new)
}

/// A state that was opened, and what an interrupted run left under way.
pub(super) struct OpenState {
    pub store: LocalStore,
    pub state: State,
    pub in_flight: Vec<Begin>,
}

/// Reads the state for a command that prints it; its warnings go to standard error.
pub(super) fn look_at_state(context: &Context, paths: StatePaths) -> Result<State, Diagnostics> {
    let opened = look(paths)?;
    context.show_aside(&opened.warnings);
    context.show_aside(&under_way(&opened.in_flight));
    Ok(opened.state.unwrap_or_else(|| State::new(TERRAFORM_VERSION)))
}

/// Opens the state for a command that does not ask after what interrupted runs left under way; a state that is not there yet
/// is an empty one.
pub(super) fn open_state(
    context: &mut Context,
    paths: StatePaths,
    locking: &Locking,
) -> Result<(LocalStore, State), Diagnostics> {
    let opened = open_for_changes(context, paths, locking)?;
    context.show(&under_way(&opened.in_flight));
    Ok((opened.store, opened.state))
}

/// Reads the state for a command that neither waits for a lock nor reports interrupted runs.
pub(super) fn peek_state(paths: StatePaths) -> Result<State, Diagnostics> {
    Ok(look(paths)?.state.unwrap_or_else(|| State::new(TERRAFORM_VERSION)))
}

fn look(paths: StatePaths) -> Result<Opened, Diagnostics> {
    // Without the lock nothing is written, so a damaged journal is shown as far as it can be read.
    let paths = paths.with_damaged_journal(DamagedJournal::Recover);
    let opened = LocalStore::open(paths, TERRAFORM_VERSION, &Locking::Off, &|| true);
    opened.map(|(_, opened)| opened).map_err(|problem| Diagnostics::from(problem.diagnostic()))
}

/// Opens the state for a run that changes things: what an interrupted run left under way is for the engine to ask after.
pub(super) fn open_for_changes(
    context: &mut Context,
    paths: StatePaths,
    locking: &Locking,
) -> Result<OpenState, Diagnostics> {
    let cancellation = context.interrupts()?.cancellation().clone();
    let keep_waiting = || cancellation.state() == groma_engine::Stop::No;
    let paths = paths.with_damaged_journal(context.settings.damaged_journal());
    let (store, opened) = LocalStore::open(paths, TERRAFORM_VERSION, locking, &keep_waiting)
        .map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    context.show(&opened.warnings);
    let state = opened.state.unwrap_or_else(|| State::new(TERRAFORM_VERSION));
    Ok(OpenState { store, state, in_flight: opened.in_flight })
}

/// Says that an interrupted run left calls whose results nobody knows.
fn under_way(in_flight: &[Begin]) -> Diagnostics {
    if in_flight.is_empty() {
        return Diagnostics::new();
    }
    let list: Vec<String> =
        in_flight.iter().map(|begin| format!("  - {} ({})", begin.address, begin.operation)).collect();
    let detail = format!(
        "An earlier run ended before it knew what became of these operations:\n{}\n\nThe next apply asks their providers \
         first, before it plans. What is shown now may still miss these objects.",
        list.join("\n")
    );
    Diagnostic::warning("Operations of an interrupted run are open", detail).into()
}

/// The options of a plan, as the flags say, without values of variables.
pub(super) fn options(context: &Context, planning: &Planning, command: &str) -> Result<PlanOptions, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mode = mode(planning, &mut problems);
    let refresh = refresh(planning, mode, &mut problems);
    let Targets { targets, excludes } = targeting::targets(planning, &mut problems);
    let replace = replaced(planning, mode, &mut problems);
    if planning.parallelism < 0 {
        problems.append(fail(
            "Invalid parallelism value",
            format!("-parallelism says how many operations may run at once; {} of them cannot.", planning.parallelism),
        ));
    }
    let deferral = if is_on(planning.allow_deferral) { Deferral::Allowed } else { Deferral::Refused };
    let invoke = invoked(&planning.invoke, &mut problems);
    if invoke.is_some() && !(targets.is_empty() && excludes.is_empty()) {
        problems.append(fail(
            "Invalid arguments",
            "-invoke looks at the action and at what it stands on, and at nothing else: give it without -target and -exclude.",
        ));
    }
    if invoke.is_some() && !replace.is_empty() && mode == Mode::Normal {
        let detail = "-invoke does nothing but invoke an action, so it does not go with -replace.";
        problems.append(fail("Unsupported plan mode", detail));
    }
    let mode = if invoke.is_some() { mode_of_invocation(mode, &mut problems) } else { mode };
    if problems.has_errors() {
        let help =
            format!("\n\nThe options of this command are shown by:\n  {} {command} -help", context.wording.command);
        problems.iter_mut().for_each(|problem| problem.detail.push_str(&help));
        return Err(problems);
    }
    Ok(PlanOptions { mode, refresh, replace, targets, excludes, invoke, deferral, ..PlanOptions::default() })
}

fn is_on(flag: Option<Flag>) -> bool {
    flag.is_some_and(Flag::is_on)
}

fn mode(planning: &Planning, problems: &mut Diagnostics) -> Mode {
    match (is_on(planning.destroy), is_on(planning.refresh_only)) {
        (true, true) => {
            problems.append(fail(
                "Incompatible plan mode options",
                "A plan can either destroy or only refresh: give -destroy or -refresh-only, not both.",
            ));
            Mode::Normal
        }
        (true, false) => Mode::Destroy,
        (false, true) => Mode::RefreshOnly,
        (false, false) => Mode::Normal,
    }
}

/// An action is invoked on what a refresh finds.
fn mode_of_invocation(mode: Mode, problems: &mut Diagnostics) -> Mode {
    if mode != Mode::Destroy {
        return Mode::RefreshOnly;
    }
    problems.append(fail(
        "Incompatible plan options",
        "-invoke does nothing but invoke an action, so it does not go with -destroy.",
    ));
    mode
}

fn refresh(planning: &Planning, mode: Mode, problems: &mut Diagnostics) -> Refresh {
    let refresh = if unless_off(planning.refresh) { Refresh::Read } else { Refresh::Trust };
    if mode == Mode::RefreshOnly && refresh == Refresh::Trust {
        problems.append(fail(
            "Incompatible refresh options",
            "-refresh=false leaves nothing to do for a plan with -refresh-only. Give only one of the two.",
        ));
    }
    refresh
}

/// Parses the addresses of `-replace`.
fn replaced(planning: &Planning, mode: Mode, problems: &mut Diagnostics) -> Vec<ResourceInstance> {
    let replace = parsed::<ResourceInstance>(&planning.replace, "force-replace address", problems);
    for address in replace.iter().filter(|address| address.resource.mode != groma_address::Mode::Managed) {
        problems.push(Diagnostic::error(
            format!("Invalid force-replace address {:?}", address.to_string()),
            "Only managed resources can be replaced.",
        ));
    }
    if mode != Mode::Normal && !replace.is_empty() {
        problems.append(fail(
            "Unsupported plan mode",
            "-replace only goes with a plan that makes objects match the configuration.",
        ));
    }
    replace
}

/// The action that `-invoke` names.
fn invoked(texts: &[String], problems: &mut Diagnostics) -> Option<InvokeTarget> {
    let text = match texts {
        [] => return None,
        [text] => text,
        _ => {
            problems.append(fail("Too many action invocations", "-invoke can be given once: one action a run."));
            return None;
        }
    };
    let named =
        if text.starts_with("action.") { Some((0, 7)) } else { text.find(".action.").map(|at| (at + 1, at + 8)) };
    let Some((begin, end)) = named else {
        let detail = "An action is named as action.TYPE.NAME, with the steps of modules before it and a key after it if need be.";
        problems.push(Diagnostic::error(format!("Invalid target {text:?}"), detail));
        return None;
    };
    match format!("{}{}", &text[..begin], &text[end..]).parse::<ResourceInstance>() {
        Ok(address) => Some(InvokeTarget {
            module: address.module,
            type_name: address.resource.type_name,
            name: address.resource.name,
            key: Some(address.key).filter(|key| *key != InstanceKey::None),
        }),
        Err(problem) => {
            problems.push(Diagnostic::error(format!("Invalid target {text:?}"), problem.message));
            None
        }
    }
}

/// Takes `-input` and the flags of views into account.
pub(super) fn prepare_context(context: &mut Context, planning: &Planning) -> Result<(), Diagnostics> {
    context.view(&planning.view);
    if !unless_off(planning.input) {
        context.settings.questions = Questions::Forbidden;
    }
    context.reveal(&planning.secrets);
    context.speak(&planning.json)
}

/// The warning about `-state`, which the argument `path` of the local backend replaces.
pub(super) fn state_flag_warning(planning: &Planning) -> Diagnostics {
    if planning.state.is_none() {
        return Diagnostics::new();
    }
    let detail =
        "The file of the state is named by the argument path of a backend \"local\" block, for all commands at once.";
    Diagnostic::warning("Deprecated flag: -state", detail).into()
}

/// The warning that a plan lets go of objects which stay.
pub(super) fn forgetting_warning(context: &Context, plan: &Plan) -> Diagnostics {
    let forgotten =
        plan.changes.iter().filter(|change| matches!(change.action, Action::Forget | Action::ForgetThenCreate));
    let list: Vec<String> = forgotten
        .map(|change| match &change.deposed {
            Some(key) => format!("  - {} (deposed object {key})", change.address),
            None => format!("  - {}", change.address),
        })
        .collect();
    if list.is_empty() {
        return Diagnostics::new();
    }
    let product = &context.wording.product;
    let detail = format!(
        "This plan takes these objects out of the state, and leaves the objects themselves as they are:\n{}\n\nOnce it is \
         applied, {product} knows nothing of them any more. To manage one again, import it.",
        list.join("\n")
    );
    Diagnostic::warning(format!("Some objects will no longer be managed by {product}"), detail).into()
}
