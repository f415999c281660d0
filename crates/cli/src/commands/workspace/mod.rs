//! `workspace`: manages several states for one configuration.

mod delete;
mod new;
mod workspaces;

pub(super) use workspaces::{Workspaces, choose};

use super::backend::active_workspace;
use super::context::Context;
use super::outcome::{Outcome, fail};
use crate::arguments::{Workspace, WorkspaceList, WorkspaceShow};
use crate::views::json::Message;

pub(super) fn run(context: &mut Context, arguments: &Workspace) -> Outcome {
    match arguments {
        Workspace::Delete(arguments) => delete::run(context, arguments),
        Workspace::List(arguments) => list(context, arguments),
        Workspace::New(arguments) => new::run(context, arguments),
        Workspace::Select(arguments) => new::select(context, arguments),
        Workspace::Show(arguments) => show(context, arguments),
    }
}

/// Runs the deprecated alias `env`.
pub(super) fn run_as_env(context: &mut Context, arguments: &Workspace) -> Outcome {
    let command = &context.wording.command;
    context.streams.print(&format!(
        "Warning: the \"{command} env\" family of commands is deprecated.\n\nUse the \"{command} workspace\" commands instead.\n\n"
    ));
    run(context, arguments)
}

fn show(context: &mut Context, arguments: &WorkspaceShow) -> Outcome {
    context.configure_view(&arguments.view);
    active_workspace(context)?;
    context.streams.print(&format!("{}\n", context.settings.workspace));
    Ok(0)
}

fn list(context: &mut Context, arguments: &WorkspaceList) -> Outcome {
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
