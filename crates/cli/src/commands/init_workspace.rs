//! `init`: checks that the selected workspace exists in the backend.

use groma_diagnostics::Diagnostics;

use super::backend::Backend;
use super::context::Context;
use super::outcome::fail;
use super::workspace::{Workspaces, choose};
use crate::settings::{DEFAULT_WORKSPACE, Questions};
use crate::terminal::Answer;
use crate::views::wording::Wording;

/// Makes sure that the selected workspace exists. The only workspace of a remote backend is selected; of several the user
/// selects one.
///
/// # Errors
/// The workspaces cannot be listed, or the user does not select one.
pub(super) fn ready(context: &mut Context, workspaces: &Workspaces) -> Result<(), Diagnostics> {
    let current = context.settings.workspace.clone();
    let remote = match workspaces.backend() {
        // Its workspaces are directories, which cost nothing to create.
        Backend::Local(_) => return workspaces.make(context, &current),
        Backend::Remote(remote) => remote,
    };
    // TF_WORKSPACE may name a workspace that the first apply creates.
    let is_default = remote.default_workspace().is_some_and(|name| name == current);
    if is_default || context.settings.workspace_is_overridden && remote.has_workspaces() {
        return Ok(());
    }
    let names = workspaces.names()?;
    if names.contains(&current) {
        return Ok(());
    }
    let chosen = match &*names {
        [] => {
            context.report_worded(|Wording { command, .. }| {
                format!(
                    "This backend has no workspace yet, and none named \"default\". To create one, run\n\"{command} workspace new NAME\".\n"
                )
            });
            return Ok(());
        }
        // With a single workspace there is no choice to ask for, as in Terraform.
        [only] => only.clone(),
        _ => asked(context, &current, &names)?,
    };
    choose(context, &chosen)?;
    // Nobody has selected "default", so that a backend without it is no news.
    if current != DEFAULT_WORKSPACE {
        context.report(&format!("The workspace {current:?} does not exist in this backend. Switched to {chosen:?}.\n"));
    }
    // The current command continues in the workspace that was selected.
    context.settings.workspace = chosen;
    Ok(())
}

fn asked(context: &mut Context, current: &str, names: &[String]) -> Result<String, Diagnostics> {
    let absent = || {
        fail(
            &format!("Currently selected workspace {current:?} does not exist"),
            format!(
                "The workspaces of this backend are {}. Select one with TF_WORKSPACE, or run init with interactive input.",
                names.join(", ")
            ),
        )
    };
    // Without prompts the user must decide through TF_WORKSPACE.
    if context.settings.questions == Questions::Forbidden || context.messages().is_some() {
        return Err(absent());
    }
    let list: String = names.iter().enumerate().map(|(index, name)| format!("{}. {name}\n", index + 1)).collect();
    let text = format!(
        "The selected workspace {current:?} does not exist in this backend. Enter the number of another one:\n\n{list}"
    );
    let Answer::Line(line) = context.prompter()?.ask("Select a workspace", &text) else { return Err(absent()) };
    // The list starts at one.
    let number = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.and_then(|index| names.get(index)).cloned().ok_or_else(absent)
}
