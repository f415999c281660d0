//! `workspace`: manages several states for one configuration.

mod delete;
mod list;
mod new;
mod select;
mod workspaces;

pub(super) use workspaces::{Workspaces, choose};

use super::backend::active_workspace;
use super::context::Context;
use super::outcome::Outcome;
use crate::arguments::{Workspace, WorkspaceShow};

pub(super) fn run(context: &mut Context, arguments: &Workspace) -> Outcome {
    match arguments {
        Workspace::Delete(arguments) => delete::run(context, arguments),
        Workspace::List(arguments) => list::run(context, arguments),
        Workspace::New(arguments) => new::run(context, arguments),
        Workspace::Select(arguments) => select::run(context, arguments),
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
