//! `workspace list`.

use super::super::backend::active_workspace;
use super::super::context::Context;
use super::super::outcome::{Outcome, fail};
use super::places::Places;
use crate::arguments::WorkspaceList;
use crate::views::json::Message;

pub(super) fn run(context: &mut Context, arguments: &WorkspaceList) -> Outcome {
    context.view(&arguments.view);
    context.speak(&arguments.json)?;
    if !arguments.rest.is_empty() {
        return Err(fail("Too many command line arguments", "Another directory is chosen with -chdir."));
    }
    active_workspace(context)?;
    let mut text = String::new();
    let names = Places::of(context)?.names()?;
    for name in &names {
        let sign = if *name == context.settings.workspace { '*' } else { ' ' };
        text.push_str(&format!("{sign} {name}\n"));
    }
    text.push('\n');
    if context.settings.workspace_is_overridden {
        text.push_str("\nThe environment variable TF_WORKSPACE says which workspace is active.\n\n");
    }
    context.say_as(&text, || {
        Message::new("workspace_list", "list of workspaces")
            .with("current_workspace", context.settings.workspace.as_str().into())
            .with("workspaces", names.into())
    });
    Ok(0)
}
