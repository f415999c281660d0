//! `apply`, `destroy` and `refresh`, with the approval prompt before a plan is applied.

mod claim;
mod done;
mod ready;
mod saved;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use claim::{MAX_PLANS, claimed, overtaken, report_new_plan, stale};
use done::{deferred_warning, incomplete_warning, report_done};
use groma_diagnostics::{Diagnostic, DiagnosticAddress, DiagnosticKind, Diagnostics, Span};
use groma_engine::{Mode, Plan, Recorder};
use ready::{Kind, Ready, from_directory};
use saved::from_file;

use super::context::Context;
use super::operation::{Watched, prepare_context, state_flag_warning, watch};
use super::outcome::{Outcome, fail};
use super::rescue::save;
use crate::arguments::{Apply, Destroy, Flag, Refresh};
use crate::terminal::Answer;
use crate::views::progress::Ticker;

pub(super) fn run(context: &mut Context, arguments: Apply) -> Outcome {
    apply(context, arguments, Kind::Apply)
}

pub(super) fn destroy(context: &mut Context, arguments: Destroy) -> Outcome {
    apply(context, arguments.apply, Kind::Destroy)
}

/// Updates the state to match real objects, without showing a plan.
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
    // Checked before planning, so that a pipeline does not plan for minutes and then fail.
    if file.is_none() && !approves_itself && context.messages().is_some() {
        return Err(cannot_prompt());
    }
    context.show(&state_flag_warning(&arguments.planning));
    let watched = watch(context);
    let ready = match &file {
        Some(path) => reviewed(context, &arguments, path, &watched)?,
        None => approved(context, &arguments, kind, &watched)?,
    };
    let Some(mut ready) = ready else { return Ok(1) };
    // Computed before apply consumes the plan.
    let is_partial = ready.plan.is_partial() && kind != Kind::Refresh;
    let incomplete = is_partial.then(|| incomplete_warning(context, &ready.plan));
    let deferred = ready.plan.is_deferring().then(|| deferred_warning(context, &ready.plan));
    let recorder: Arc<dyn Recorder> = ready
        .store
        .begin_run(&mut ready.plan.prior_state)
        .map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    let ticker = Ticker::start(Arc::clone(&watched.progress));
    let mut applied = ready.run.apply(ready.plan, ready.inputs, recorder);
    // The provider processes shut down while the state is written.
    context.plugin_host.begin_shutdown_all();
    drop(ticker);
    let mut problems = merged(ready.warnings, std::mem::take(&mut applied.diagnostics));
    save(context, &mut ready.store, &mut applied.state, &mut problems);
    // Releases the lock before output that the user may read for long.
    drop(ready.store);
    problems.append(incomplete);
    problems.append(deferred);
    let failed = problems.has_errors();
    context.show(&problems);
    if failed {
        return Ok(1);
    }
    let state_out = arguments.state_out.as_deref();
    report_done(context, kind, watched.counter.counts(), &applied.state, state_out);
    ready.run.stop_providers();
    context.retain((applied, ready.run));
    Ok(0)
}

/// Returns a saved plan whose records are claimed; `None` if it cannot be applied.
fn reviewed(
    context: &mut Context,
    arguments: &Apply,
    path: &Path,
    watched: &Watched,
) -> Result<Option<Ready>, Diagnostics> {
    let Some(mut ready) = from_file(context, arguments, path, watched)? else { return Ok(None) };
    match claimed(context, &mut ready)?.as_slice() {
        [] => Ok(Some(ready)),
        outdated => Err(stale(outdated)),
    }
}

/// Returns a plan of the working directory that was approved and whose records are claimed; `None` if there is none. While other runs
/// change what the plan uses, it is made and approved again.
fn approved(
    context: &mut Context,
    arguments: &Apply,
    kind: Kind,
    watched: &Watched,
) -> Result<Option<Ready>, Diagnostics> {
    let approves_itself = arguments.auto_approve.is_some_and(Flag::is_on);
    let mut outdated = Vec::new();
    for _ in 0..MAX_PLANS {
        let Some(mut ready) = from_directory(context, arguments, kind, watched)? else { return Ok(None) };
        // A plan without changes needs no approval.
        if ready.plan.is_applyable() && !approves_itself {
            // Warnings belong before the question, because they may decide the answer.
            context.show(&std::mem::take(&mut ready.warnings));
            if ask(context, &ready.plan)? == Approval::Refused {
                return Ok(None);
            }
        }
        outdated = claimed(context, &mut ready)?;
        if outdated.is_empty() {
            return Ok(Some(ready));
        }
        report_new_plan(context, &outdated);
    }
    Err(overtaken(&outdated))
}

/// Sets the destroy mode for the `destroy` command, and rejects flags that select a mode.
fn only_destroys(arguments: &mut Apply) -> Result<(), Diagnostics> {
    let planning = &mut arguments.planning;
    if planning.destroy.is_some_and(Flag::is_on) {
        return Err(fail("Invalid mode option", "The destroy command always destroys. Remove the -destroy flag."));
    }
    if planning.refresh_only.is_some_and(Flag::is_on) {
        return Err(fail(
            "Invalid mode option",
            "The destroy command does not support -refresh-only. Use apply -refresh-only.",
        ));
    }
    planning.destroy = Some(Flag::On);
    Ok(())
}

/// Returns the saved plan to apply, if there is one. An empty name counts as none, because scripts run `apply "$PLAN"`.
fn saved_plan(rest: &[OsString], kind: Kind) -> Result<Option<PathBuf>, Diagnostics> {
    match rest {
        [] => Ok(None),
        [_, ..] if kind == Kind::Refresh => Err(fail(
            "Too many command line arguments",
            "The refresh command takes no arguments. To refresh another directory, put -chdir=DIRECTORY before the command.",
        )),
        [file] if file.is_empty() => Ok(None),
        [file] if kind == Kind::Apply => Ok(Some(PathBuf::from(file))),
        [_] if kind == Kind::Destroy => Err(fail(
            "Destroy can't be called with a plan file",
            "To apply a plan that was created with plan -destroy, pass its file to the apply command.",
        )),
        _ => Err(fail("Too many command line arguments", "Expected at most one argument: the file of a saved plan.")),
    }
}

fn cannot_prompt() -> Diagnostics {
    fail(
        "Plan file or auto-approve required",
        "-json cannot prompt for approval. Add -auto-approve, or apply a saved plan.",
    )
}

/// Merges the diagnostics of planning and applying without duplicates. Warnings about assertions that were unknown during
/// planning are dropped: apply has decided them, or failed.
fn merged(planning: Diagnostics, applying: Diagnostics) -> Diagnostics {
    // Both phases may report every instance of a large configuration, so a quadratic comparison would be slow.
    let mut again: HashMap<_, Vec<&Diagnostic>> = HashMap::new();
    applying.iter().for_each(|one| again.entry(key(one)).or_default().push(one));
    let is_again = |one: &Diagnostic| again.get(&key(one)).is_some_and(|alike| alike.contains(&one));
    let is_news = |one: &Diagnostic| one.kind != DiagnosticKind::UnknownAssertion && !is_again(one);
    let mut all: Diagnostics = planning.into_iter().filter(is_news).collect();
    all.append(applying);
    all
}

/// Returns the parts that distinguish most diagnostics.
fn key(diagnostic: &Diagnostic) -> (&str, &str, Option<&DiagnosticAddress>, Option<Span>) {
    (&diagnostic.summary, &diagnostic.detail, diagnostic.address.as_deref(), diagnostic.subject)
}

/// Answer to the approval prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Approval {
    Given,
    /// Any answer but `yes`.
    Refused,
}

/// Asks whether to apply `plan`.
///
/// # Errors
///
/// The input ended without an answer, or the user interrupted the prompt.
pub(super) fn ask(context: &mut Context, plan: &Plan) -> Result<Approval, Diagnostics> {
    let (title, text) = question(context, plan);
    let prompter = context.prompter()?;
    context.streams.print("\n");
    match prompter.ask(&title, &text) {
        // As in Terraform, only the exact word approves.
        Answer::Line(line) if line == "yes" => Ok(Approval::Given),
        Answer::Line(_) | Answer::NotUtf8 => {
            let what = if plan.mode == Mode::Destroy { "Destroy" } else { "Apply" };
            context.streams.print(&format!("{what} cancelled.\n"));
            Ok(Approval::Refused)
        }
        Answer::End => Err(fail(
            "error asking for approval: EOF",
            "Standard input ended before an answer was given. Nothing was changed. Use -auto-approve to apply without a prompt.",
        )),
        Answer::Interrupted => Err(fail("error asking for approval: interrupted", "Nothing was changed.")),
    }
}

fn question(context: &Context, plan: &Plan) -> (String, String) {
    let product = context.text_wording.product;
    let location = match &*context.settings.workspace {
        "default" => String::new(),
        workspace => format!(" in workspace {workspace:?}"),
    };
    match plan.mode {
        Mode::Destroy => (
            format!("Do you really want to destroy all resources{location}?"),
            format!(
                "{product} will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' will be accepted to \
                 confirm."
            ),
        ),
        Mode::RefreshOnly => (
            format!("Would you like to update the {product} state to reflect these detected changes{location}?"),
            format!(
                "{product} will write these changes to the state without modifying any real infrastructure.\nThere is no undo. Only 'yes' \
                 will be accepted to confirm."
            ),
        ),
        Mode::Normal => (
            format!("Do you want to perform these actions{location}?"),
            format!("{product} will perform the actions described above.\nOnly 'yes' will be accepted to approve."),
        ),
    }
}
