//! `force-unlock`: releases the lock of a run that has ended without doing so.

use groma_backend::RemoteBackend;
use groma_diagnostics::Diagnostics;

use super::backend::{Backend, active_workspace, diagnostics, in_use};
use super::configuration::{Purpose, load};
use super::context::Context;
use super::outcome::{Outcome, fail};
use crate::arguments::{Flag, ForceUnlock};
use crate::settings::Questions;
use crate::terminal::{Answer, Tone};

pub(super) fn run(context: &mut Context, arguments: &ForceUnlock) -> Outcome {
    context.configure_view(&arguments.view);
    context.configure_json(&arguments.json)?;
    let [id] = &*arguments.rest else {
        return Err(fail("Expected a single argument: LOCK_ID", "The error message about the lock contains its ID."));
    };
    let is_forced = arguments.force.is_some_and(Flag::is_on);
    let (configuration, _) = load(context, Purpose::ChangeState)?;
    let backend = in_use(context, &configuration.root)?.connect(context)?;
    active_workspace(context)?;
    // Locks of local files cannot be stale: the operating system releases them.
    let Backend::Remote(remote) = backend else { return Err(local(is_forced)) };
    let workspace = context.settings.workspace.clone();
    if !remote.supports_workspace(&workspace) {
        return Err(diagnostics(&remote.no_workspace(&workspace)));
    }
    if !remote.store().can_lock() {
        return Err(fail(
            "Failed to unlock state",
            format!("The backend {:?} is configured without locks, so there is nothing to unlock.", remote.ty().name),
        ));
    }
    // Anything but an explicit yes keeps the lock, because releasing it endangers the other run.
    if !is_forced && !confirmed(context, &remote, &workspace)? {
        context.report("force-unlock cancelled.\n");
        return Ok(1);
    }
    remote.force_unlock(&workspace, id).map_err(|problem| diagnostics(&problem))?;
    let title = format!("{} state has been successfully unlocked!", context.wording.product);
    let shown = context.palette().paint(Tone::BoldGreen, &title);
    context.report(&format!("{shown}\n\nOther runs can lock the state again.\n"));
    Ok(0)
}

/// Fails: the lock of a local state ends with the process that holds it, so it is never stale.
fn local(is_forced: bool) -> Diagnostics {
    let detail = "The lock of a local state is held by the operating system, which releases it when the process ends, so it cannot be \
                  stale. Wait for the other process, or stop it.";
    let summary = if is_forced {
        "Failed to unlock state: LocalState not locked"
    } else {
        "Local state cannot be unlocked by another process"
    };
    fail(summary, detail)
}

fn confirmed(context: &mut Context, remote: &RemoteBackend, workspace: &str) -> Result<bool, Diagnostics> {
    if context.settings.questions == Questions::Forbidden || context.messages().is_some() {
        let detail = "The lock may belong to a run that is still at work. Confirm with -force.";
        return Err(fail("Cannot confirm force-unlock without interactive input", detail));
    }
    let text = format!(
        "The lock of {} will be released although another run may hold it. If that run is\nstill at work, both may overwrite each \
         other's changes.\n\nOnly \"yes\" releases the lock.",
        remote.location(workspace)
    );
    Ok(
        matches!(context.prompter()?.ask("Do you really want to force-unlock?", &text), Answer::Line(line) if line == "yes"),
    )
}
