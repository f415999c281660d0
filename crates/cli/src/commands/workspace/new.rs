//! `workspace new` and `workspace select`: switch to a workspace, which the former creates.

use std::path::Path;

use groma_diagnostics::{Diagnostics, io_reason};
use groma_encryption::Encryption;
use groma_provider::TERRAFORM_VERSION;
use groma_state::{State, file, read_sealed};

use super::super::backend::{locking, valid_workspace};
use super::super::context::Context;
use super::super::operation::open_state;
use super::super::outcome::{Outcome, fail};
use super::workspaces::{Workspaces, absent, choose, not_overridden, single_name};
use crate::arguments::{self, Flag, WorkspaceNew, WorkspaceSelect};

pub(super) fn run(context: &mut Context, arguments: &WorkspaceNew) -> Outcome {
    context.configure_view(&arguments.view);
    context.configure_json(&arguments.json)?;
    let name = single_name(&arguments.rest)?;
    valid_workspace(name)?;
    // A new workspace would not be used while TF_WORKSPACE selects another.
    not_overridden(context)?;
    let workspaces = Workspaces::of(context)?;
    if workspaces.exists(name)? {
        return Err(fail(&format!("Workspace {name:?} already exists"), "Switch to it with \"workspace select\"."));
    }
    // The file is read before the workspace is created, so that an error leaves no empty workspace behind.
    let encryption = workspaces.location(context, name)?.encryption();
    let state = arguments.state.as_deref().map(|path| read(path, encryption.as_deref())).transpose()?;
    create(context, &workspaces, name)?;
    match state {
        Some(state) => begin_with(context, &workspaces, name, state, &arguments.locking),
        None => Ok(0),
    }
}

/// Creates a workspace, switches to it, and reports it.
pub(super) fn create(context: &Context, workspaces: &Workspaces, name: &str) -> Result<(), Diagnostics> {
    workspaces.make(context, name)?;
    // Selected only after it exists.
    choose(context, name)?;
    let command = &context.wording.command;
    context.report(&format!(
        "Created and switched to workspace {name:?}!\n\nThe state of the new workspace is empty: \"{command} plan\" does not \
         see objects of other\nworkspaces.\n"
    ));
    Ok(())
}

fn read(path: &Path, encryption: Option<&Encryption>) -> Result<State, Diagnostics> {
    let bytes = std::fs::read(path).map_err(|problem| {
        fail(
            "Failed to read the state for the workspace",
            format!("{}: {problem}.", path.display(), problem = io_reason(&problem)),
        )
    })?;
    if file::is_blank(&bytes) {
        return Err(fail("no state", format!("The file {} is empty.", path.display())));
    }
    read_sealed(&bytes, encryption).map_err(|problem| Diagnostics::from(problem.in_file(path).diagnostic()))
}

/// Stores a copy of a state in a workspace, with a new lineage.
fn begin_with(
    context: &mut Context,
    workspaces: &Workspaces,
    name: &str,
    mut state: State,
    lock: &arguments::Locking,
) -> Outcome {
    let location = workspaces.location(context, name)?;
    let (mut store, _) = open_state(context, location, &locking(lock, "workspace-new"))?;
    // A copy is another state: with the lineage of the original, a push could overwrite one with the other.
    state.lineage = State::new(TERRAFORM_VERSION).lineage;
    state.serial = 0;
    store.save(&mut state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    Ok(0)
}

pub(super) fn select(context: &mut Context, arguments: &WorkspaceSelect) -> Outcome {
    context.configure_view(&arguments.view);
    context.configure_json(&arguments.json)?;
    let name = single_name(&arguments.rest)?;
    not_overridden(context)?;
    valid_workspace(name)?;
    // Selecting the current workspace succeeds without any access to the backend.
    if name == context.settings.workspace {
        return Ok(0);
    }
    let workspaces = Workspaces::of(context)?;
    if !workspaces.exists(name)? {
        return match arguments.or_create {
            Some(Flag::On) => create(context, &workspaces, name).map(|()| 0),
            _ => Err(absent(context, name)),
        };
    }
    choose(context, name)?;
    context.report(&format!("Switched to workspace {name:?}.\n"));
    Ok(0)
}
