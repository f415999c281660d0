//! Shared parts of plan and apply: the engine run, its progress, its state and its options.

use std::sync::{Arc, Weak};

use groma_address::{InstanceKey, ResourceInstance};
use groma_config::Configuration;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::{Action, Deferral, Hooks, InvokeTarget, Mode, Plan, PlanOptions, Refresh, Run};
use groma_provider::TERRAFORM_VERSION;
use groma_state::{Begin, DamagedJournal, Locking, Opened, State};

use super::backend::{SharedHandle, SharedOpened, SharedUse, StateHandle, StateLocation, host, unless_off};
use super::context::{Context, ProgressDisplay};
use super::encryption;
use super::outcome::fail;
use super::packages::Packages;
use super::session::{DEFAULT_PARALLELISM, Included, Watch, session};
use super::targeting::{self, Targets, parsed};
use crate::arguments::{Flag, Planning};
use crate::settings::Questions;
use crate::terminal::{Overlay, Palette};
use crate::views::progress::{Counter, Counting, LineProgress, LiveProgress, MessageProgress, Progress, Tee};

/// Progress reporter of a run, with the counter of its changes.
pub(super) struct Watched {
    pub progress: Arc<dyn Progress>,
    pub counter: Arc<Counter>,
}

/// Creates the progress reporter that suits the output: messages, live lines on a terminal, or plain lines.
pub(super) fn watch(context: &Context) -> Watched {
    let counter = Arc::new(Counter::default());
    let out = Arc::clone(context.streams.text());
    let palette = context.palette();
    // Live lines need cursor movement, which the palette indicates: it is only set for a terminal that allows escape
    // sequences.
    let progress: Arc<dyn Progress> = match (context.messages(), context.progress, palette) {
        (Some(stream), ..) => Arc::new(MessageProgress::new(stream.clone(), Arc::clone(&counter))),
        (None, ProgressDisplay::Hidden, _) => Arc::new(Counting::new(Arc::clone(&counter))),
        (None, ProgressDisplay::Shown, Palette::Ansi) => {
            let (bare, columns) = (Arc::clone(context.streams.bare()), context.streams.output.columns());
            let live = Arc::new(LiveProgress::new(palette, columns, bare, Arc::clone(&counter)));
            let overlay: Weak<dyn Overlay> = Arc::downgrade(&(Arc::clone(&live) as Arc<dyn Overlay>));
            // Everything printed during the run must erase the live lines first, or they would be left in the output.
            context.streams.print_above(overlay);
            live
        }
        (None, ProgressDisplay::Shown, Palette::Plain) => {
            Arc::new(LineProgress::new(palette, out, Arc::clone(&counter)))
        }
    };
    let progress: Arc<dyn Progress> = match context.json_mirror() {
        // The file gets its own counter, which nobody reads: each change must be counted once.
        Some(stream) => Arc::new(Tee([progress, Arc::new(MessageProgress::new(stream.clone(), Arc::default()))])),
        None => progress,
    };
    Watched { progress: context.log.watch(progress), counter }
}

/// Creates a progress reporter of lines or messages, for a command whose progress contains its result.
pub(super) fn watch_lines(context: &Context) -> Arc<dyn Progress> {
    let counter = Arc::new(Counter::default());
    match context.messages() {
        Some(stream) => Arc::new(MessageProgress::new(stream.clone(), counter)),
        None => Arc::new(LineProgress::new(context.palette(), Arc::clone(context.streams.text()), counter)),
    }
}

/// Creates a run over `configuration`, after warnings about its providers.
pub(super) fn run(
    context: &mut Context,
    configuration: Configuration,
    hooks: Arc<dyn Hooks>,
    parallelism: i64,
) -> Result<Run, Diagnostics> {
    // Missing packages are an error here, because a run may call every provider.
    let packages = installed(context, &configuration)?;
    context.show(&packages.warning());
    run_with(context, configuration, packages, hooks, parallelism)
}

/// Creates a read-only run over `configuration`, without warnings, because its output is a document.
pub(super) fn quiet_run(
    context: &mut Context,
    configuration: Configuration,
    hooks: Arc<dyn Hooks>,
    parallelism: i64,
) -> Result<Run, Diagnostics> {
    let packages = installed(context, &configuration)?;
    run_with(context, configuration, packages, hooks, parallelism)
}

/// Returns the packages of the providers of `configuration`, all of which must be installed.
fn installed(context: &Context, configuration: &Configuration) -> Result<Packages, Diagnostics> {
    let packages = Packages::of(context, configuration)?;
    match packages.missing() {
        Some(missing) => Err(missing.clone().into()),
        None => Ok(packages),
    }
}

/// Creates a run over `configuration` with the providers in `packages`.
pub(super) fn run_with(
    context: &mut Context,
    configuration: Configuration,
    packages: Packages,
    hooks: Arc<dyn Hooks>,
    parallelism: i64,
) -> Result<Run, Diagnostics> {
    // An invalid encryption block is reported when the state is opened.
    let remote = encryption::of(&configuration.root).unwrap_or_default().remote;
    let providers = Included::unless(packages).with_encryption(remote).with_host(host(context));
    let cancellation = context.interrupts()?.cancellation().clone();
    // Zero selects the default, as in Terraform; negative values were rejected before.
    let parallelism = usize::try_from(parallelism).ok().filter(|number| *number > 0).unwrap_or(DEFAULT_PARALLELISM);
    session(context, configuration, providers, Watch { hooks, cancellation, parallelism }).map(Run::new)
}

/// An open state, with the operations of an interrupted run whose results are unknown.
pub(super) struct OpenState {
    pub store: StateHandle,
    pub state: State,
    pub in_flight: Vec<Begin>,
}

/// Reads the state without its lock, for a command that prints it; `None` without a state. Warnings go to standard error.
pub(super) fn find_state_unlocked(context: &Context, location: StateLocation) -> Result<Option<State>, Diagnostics> {
    let opened = open_unlocked(context, location)?;
    context.show_on_stderr(&opened.warnings);
    // The printed state may be incomplete without these results.
    context.show_on_stderr(&in_flight_warning(&opened.in_flight));
    Ok(opened.state)
}

/// Reads the state as [`find_state_unlocked`] does. A missing state is an empty one.
pub(super) fn read_state_unlocked(context: &Context, location: StateLocation) -> Result<State, Diagnostics> {
    Ok(find_state_unlocked(context, location)?.unwrap_or_else(|| State::new(TERRAFORM_VERSION)))
}

/// Opens the state for a command that does not recover operations of an interrupted run. A missing state is an empty one.
pub(super) fn open_state(
    context: &mut Context,
    location: StateLocation,
    locking: &Locking,
) -> Result<(StateHandle, State), Diagnostics> {
    let opened = open_for_changes(context, location, locking)?;
    context.show(&in_flight_warning(&opened.in_flight));
    Ok((opened.store, opened.state))
}

/// Reads the state without its lock and without warnings; `None` without a state.
pub(super) fn peek_state(context: &Context, location: StateLocation) -> Result<Option<State>, Diagnostics> {
    Ok(open_unlocked(context, location)?.state)
}

fn open_unlocked(context: &Context, location: StateLocation) -> Result<Opened, Diagnostics> {
    // Nothing is written without the lock, so reading the intact part of a damaged journal is safe.
    let location = location.with_damaged_journal(DamagedJournal::Recover);
    // No lock is taken: a command that only prints must not wait for a long apply.
    location.open(context, &Locking::Off, None).map(|(_, opened)| opened)
}

/// Opens the state for a plan or an apply: a shared one without its lock, any other one as [`open_for_changes`] does.
pub(super) fn open_for_planning(
    context: &mut Context,
    location: StateLocation,
    locking: &Locking,
    usage: SharedUse,
) -> Result<OpenState, Diagnostics> {
    let cancellation = context.interrupts()?.cancellation().clone();
    let location = location.with_damaged_journal(context.settings.damaged_journal());
    if let Some(opened) = location.open_unshared(context, locking, &cancellation)? {
        return Ok(ready_for_changes(context, opened));
    }
    match SharedHandle::open(context, &location, locking, &cancellation, usage)? {
        Some(SharedOpened { handle, state, in_flight }) => {
            Ok(OpenState { store: StateHandle::Shared(Box::new(handle)), state, in_flight })
        }
        None => open_for_changes(context, location, locking),
    }
}

/// Opens the state for an apply, which recovers the operations of an interrupted run.
pub(super) fn open_for_changes(
    context: &mut Context,
    location: StateLocation,
    locking: &Locking,
) -> Result<OpenState, Diagnostics> {
    // An interrupt ends waiting for the lock, so that -lock-timeout cannot block the program.
    let cancellation = context.interrupts()?.cancellation().clone();
    let location = location.with_damaged_journal(context.settings.damaged_journal());
    let opened = location.open(context, locking, Some(&cancellation))?;
    Ok(ready_for_changes(context, opened))
}

fn ready_for_changes(context: &mut Context, (store, opened): (StateHandle, Opened)) -> OpenState {
    context.show(&opened.warnings);
    let state = opened.state.unwrap_or_else(|| State::new(TERRAFORM_VERSION));
    OpenState { store, state, in_flight: opened.in_flight }
}

/// Warns about operations of an interrupted run whose results are unknown.
pub(super) fn in_flight_warning(in_flight: &[Begin]) -> Diagnostics {
    if in_flight.is_empty() {
        return Diagnostics::new();
    }
    let list: Vec<String> =
        in_flight.iter().map(|begin| format!("  - {} ({})", begin.address, begin.operation)).collect();
    let detail = format!(
        "An earlier run was interrupted before these operations completed:\n{}\n\nThe next apply recovers their results from the \
         providers before it plans. Until then these objects may be missing from the output.",
        list.join("\n")
    );
    Diagnostic::warning("Unfinished operations of an interrupted run", detail).into()
}

/// Returns the plan options that the flags set, without values of variables.
pub(super) fn options(context: &Context, planning: &Planning, command: &str) -> Result<PlanOptions, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mode = mode(planning, &mut problems);
    let refresh = refresh(planning, mode, &mut problems);
    let Targets { targets, excludes } = targeting::targets(planning, &mut problems);
    let replace = replaced(planning, mode, &mut problems);
    // All flags are checked before the errors are returned, so one run reports them together.
    if planning.parallelism < 0 {
        problems.append(fail(
            "Invalid parallelism value",
            format!("-parallelism must not be negative, but it is set to {}.", planning.parallelism),
        ));
    }
    let deferral = if is_on(planning.allow_deferral) { Deferral::Allowed } else { Deferral::Refused };
    let invoke = invoked(&planning.invoke, &mut problems);
    if invoke.is_some() && !(targets.is_empty() && excludes.is_empty()) {
        problems.append(fail(
            "Invalid arguments",
            "-invoke already limits the plan to the action and its dependencies. Remove -target and -exclude.",
        ));
    }
    if invoke.is_some() && !replace.is_empty() && mode == Mode::Normal {
        let detail = "-invoke only invokes an action, so it cannot be combined with -replace.";
        problems.append(fail("Unsupported plan mode", detail));
    }
    // The checks above use the mode of the flags, because -invoke itself selects refresh-only.
    let mode = if invoke.is_some() { mode_of_invocation(mode, &mut problems) } else { mode };
    if problems.has_errors() {
        let help = format!("\n\nFor the options of this command, run:\n  {} {command} -help", context.wording.command);
        // The help names the flags that this command has, for every error alike.
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
                "-destroy and -refresh-only are mutually exclusive. Use only one of them.",
            ));
            // The mode no longer matters, because the error prevents the plan.
            Mode::Normal
        }
        (true, false) => Mode::Destroy,
        (false, true) => Mode::RefreshOnly,
        (false, false) => Mode::Normal,
    }
}

/// Returns the plan mode for `-invoke`, which only refreshes objects before it invokes the action.
fn mode_of_invocation(mode: Mode, problems: &mut Diagnostics) -> Mode {
    if mode != Mode::Destroy {
        return Mode::RefreshOnly;
    }
    problems.append(fail(
        "Incompatible plan options",
        "-invoke only invokes an action, so it cannot be combined with -destroy.",
    ));
    mode
}

fn refresh(planning: &Planning, mode: Mode, problems: &mut Diagnostics) -> Refresh {
    let refresh = if unless_off(planning.refresh) { Refresh::Read } else { Refresh::Trust };
    if mode == Mode::RefreshOnly && refresh == Refresh::Trust {
        problems.append(fail(
            "Incompatible refresh options",
            "-refresh=false leaves nothing to do for a -refresh-only plan. Use only one of them.",
        ));
    }
    refresh
}

/// Returns the instances to replace, from `-replace`.
fn replaced(planning: &Planning, mode: Mode, problems: &mut Diagnostics) -> Vec<ResourceInstance> {
    let replace = parsed::<ResourceInstance>(&planning.replace, "force-replace address", problems);
    // Data sources are read in every plan.
    for address in replace.iter().filter(|address| address.resource.mode != groma_address::Mode::Managed) {
        problems.push(Diagnostic::error(
            format!("Invalid force-replace address {:?}", address.to_string()),
            "Only managed resources can be replaced.",
        ));
    }
    if mode != Mode::Normal && !replace.is_empty() {
        problems.append(fail(
            "Unsupported plan mode",
            "-replace only works with a normal plan, not with -destroy or -refresh-only.",
        ));
    }
    replace
}

/// Returns the action to invoke, from `-invoke`.
fn invoked(texts: &[String], problems: &mut Diagnostics) -> Option<InvokeTarget> {
    let text = match texts {
        [] => return None,
        [text] => text,
        _ => {
            problems.append(fail(
                "Too many action invocations",
                "-invoke may only be set once, because a run invokes a single action.",
            ));
            return None;
        }
    };
    // The address parser knows resources only, so the step "action." is cut out of the address.
    // `action.` is only a step if it is at the start or after a module, so names that contain it do not count.
    let named =
        if text.starts_with("action.") { Some((0, 7)) } else { text.find(".action.").map(|at| (at + 1, at + 8)) };
    let Some((begin, end)) = named else {
        let detail = "The address of an action has the form action.TYPE.NAME, optionally preceded by a module path and followed by an \
        instance key.";
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

/// Applies `-input` and the presentation flags.
pub(super) fn prepare_context(context: &mut Context, planning: &Planning) -> Result<(), Diagnostics> {
    context.configure_view(&planning.view);
    if !unless_off(planning.input) {
        context.settings.questions = Questions::Forbidden;
    }
    context.configure_secrets(&planning.secrets);
    context.configure_json(&planning.json)
}

/// Warns about the flag `-state`, which the argument `path` of the local backend replaces.
pub(super) fn state_flag_warning(planning: &Planning) -> Diagnostics {
    if planning.state.is_none() {
        return Diagnostics::new();
    }
    let detail =
        "Use the argument \"path\" of a backend \"local\" block instead, which sets the state file for all commands.";
    Diagnostic::warning("Deprecated flag: -state", detail).into()
}

/// Warns about objects that the plan removes from the state without destroying them.
pub(super) fn forgetting_warning(context: &Context, plan: &Plan) -> Diagnostics {
    let forgotten =
        // Objects that are forgotten and created again also leave the old object behind.
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
    let product = context.wording.product;
    let detail = format!(
        "Applying this plan will remove these objects from the state without destroying them:\n{}\n\nAfter that, {product} \
         will no longer manage them. To manage an object again, import it.",
        list.join("\n")
    );
    Diagnostic::warning(format!("Some objects will no longer be managed by {product}"), detail).into()
}
