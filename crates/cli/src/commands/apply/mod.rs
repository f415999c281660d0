//! `apply`, `destroy` and `refresh`.

mod done;
mod overridden;
mod planned;
mod ready;
mod saved;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, Span};
use groma_engine::Recorder;

use super::approval::{Approval, ask};
use super::context::Context;
use super::left_open::{deferred_warning, incomplete_warning};
use super::operation::{prepare_context, state_flag_warning, watch};
use super::outcome::{Outcome, fail};
use super::rescue::save;
use crate::arguments::{Apply, Destroy, Flag, Refresh};
use crate::views::progress::Ticker;
use done::tell_done;
use planned::from_directory;
use ready::Kind;
use saved::from_file;

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
    groma_plugin::client::begin_shutdown_all();
    drop(ticker);
    let mut problems = merged(ready.warnings, std::mem::take(&mut applied.diagnostics));
    save(context, &mut ready.store, &mut applied.state, &mut problems);
    drop(ready.store);
    problems.append(incomplete);
    problems.append(deferred);
    let failed = problems.has_errors();
    context.show(&problems);
    if failed {
        return Ok(1);
    }
    let elsewhere = arguments.state_out.as_deref();
    tell_done(context, kind, watched.counter.counts(), &applied.state, elsewhere);
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
        [_] if kind == Kind::Destroy => Err(fail(
            "Destroy can't be called with a plan file",
            "To carry out a plan that was made with plan -destroy, give its file to apply.",
        )),
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

/// The problems of planning, then those of applying; what both found is said once. What only apply could tell has been
/// told by now, or its reason has.
fn merged(planning: Diagnostics, applying: Diagnostics) -> Diagnostics {
    // Both may report every instance of a large configuration: nothing is compared with everything.
    let mut again: HashMap<_, Vec<&Diagnostic>> = HashMap::new();
    applying.iter().for_each(|one| again.entry(key(one)).or_default().push(one));
    let is_again = |one: &Diagnostic| again.get(&key(one)).is_some_and(|alike| alike.contains(&one));
    let is_news = |one: &Diagnostic| one.kind != DiagnosticKind::UnknownAssertion && !is_again(one);
    let mut all: Diagnostics = planning.into_iter().filter(is_news).collect();
    all.append(applying);
    all
}

/// The parts that distinguish most diagnostics.
fn key(diagnostic: &Diagnostic) -> (&str, &str, Option<&str>, Option<Span>) {
    (&diagnostic.summary, &diagnostic.detail, diagnostic.address.as_deref(), diagnostic.subject)
}
