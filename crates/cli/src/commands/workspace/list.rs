//! `workspace list`: lists the workspaces.

use super::super::backend::active_workspace;
use super::super::context::Context;
use super::super::outcome::{Outcome, fail};
use super::workspaces::Workspaces;
use crate::arguments::WorkspaceList;
use crate::views::json::Message;

pub(super) fn run(context: &mut Context, arguments: &WorkspaceList) -> Outcome {
    context.configure_view(&arguments.view);
    context.configure_json(&arguments.json)?;
    if !arguments.rest.is_empty() {
        return Err(fail(
            "Too many command line arguments",
            "Expected no arguments. To use another directory, put -chdir=DIRECTORY before the command.",
        ));
    }
    active_workspace(context)?;
    let mut text = String::new();
    let names = Workspaces::of(context)?.names()?;
    for name in &names {
        let sign = if *name == context.settings.workspace { '*' } else { ' ' };
        text.push_str(&format!("{sign} {name}\n"));
    }
    text.push('\n');
    if context.settings.workspace_is_overridden {
        text.push_str("\nThe active workspace is set by the environment variable TF_WORKSPACE.\n\n");
    }
    context.report_as(&text, || {
        Message::new("workspace_list", "list of workspaces")
            .with("current_workspace", context.settings.workspace.as_str().into())
            .with("workspaces", names.into())
    });
    Ok(0)
}
