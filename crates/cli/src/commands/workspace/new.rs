//! `workspace new`.

use std::path::Path;

use groma_diagnostics::{Diagnostics, io_reason};
use groma_encryption::Encryption;
use groma_state::{State, file, read_sealed};

use super::super::backend::{locking, valid_workspace};
use super::super::context::Context;
use super::super::operation::open_state;
use super::super::outcome::{Outcome, fail};
use super::places::{Places, choose, not_overridden, single_name};
use crate::arguments::{self, WorkspaceNew};
use crate::settings::TERRAFORM_VERSION;

pub(super) fn run(context: &mut Context, arguments: &WorkspaceNew) -> Outcome {
    context.view(&arguments.view);
    context.speak(&arguments.json)?;
    let name = single_name(&arguments.rest)?;
    valid_workspace(name)?;
    not_overridden(context)?;
    let places = Places::of(context)?;
    if places.exists(name) {
        return Err(fail(&format!("Workspace {name:?} already exists"), "Select it with \"workspace select\"."));
    }
    // The file is read first, so that a wrong path leaves no empty workspace behind.
    let encryption = places.state_paths(name)?.encryption;
    let state = arguments.state.as_deref().map(|path| read(path, encryption.as_deref())).transpose()?;
    create(context, &places, name)?;
    match state {
        Some(state) => begin_with(context, &places, name, state, &arguments.locking),
        None => Ok(0),
    }
}

/// Creates a workspace, selects it and prints a message.
pub(super) fn create(context: &Context, places: &Places, name: &str) -> Result<(), Diagnostics> {
    places.make(name)?;
    choose(context, name)?;
    let command = &context.wording.command;
    context.say(&format!(
        "Created and switched to workspace {name:?}!\n\nEach workspace has a state of its own, and this one is new: \
         \"{command} plan\" sees nothing of\nwhat other workspaces manage.\n"
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
        return Err(fail("no state", format!("{} is empty: there is nothing to begin with.", path.display())));
    }
    read_sealed(&bytes, encryption).map_err(|problem| Diagnostics::from(problem.in_file(path).diagnostic()))
}

/// Puts a copy of a state, with a lineage of its own, into a workspace.
fn begin_with(
    context: &mut Context,
    places: &Places,
    name: &str,
    mut state: State,
    lock: &arguments::Locking,
) -> Outcome {
    let paths = places.state_paths(name)?;
    let (mut store, _) = open_state(context, paths, &locking(lock, "workspace-new"))?;
    state.lineage = State::new(TERRAFORM_VERSION).lineage;
    state.serial = 0;
    store.save(&mut state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    Ok(0)
}
