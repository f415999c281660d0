//! `workspace delete`: deletes a workspace and its state.

use std::path::{Path, PathBuf};

use groma_address::Mode;
use groma_diagnostics::Diagnostics;
use groma_state::{State, claim_backup, sealed_state, write_whole};

use super::super::backend::{Backend, StateHandle, diagnostics, locking, valid_workspace};
use super::super::context::Context;
use super::super::operation::open_state;
use super::super::outcome::{Outcome, fail};
use super::workspaces::{Workspaces, absent, failed, single_name};
use crate::arguments::{Flag, WorkspaceDelete};
use crate::settings::DEFAULT_WORKSPACE;

pub(super) fn run(context: &mut Context, arguments: &WorkspaceDelete) -> Outcome {
    context.configure_view(&arguments.view);
    context.configure_json(&arguments.json)?;
    let name = single_name(&arguments.rest)?;
    valid_workspace(name)?;
    let workspaces = Workspaces::of(context)?;
    if !workspaces.exists(name)? {
        return Err(absent(context, name));
    }
    if name == context.settings.workspace {
        return Err(fail(
            &format!("Workspace {name:?} is your active workspace"),
            "The active workspace cannot be deleted. Switch to another workspace and try again.",
        ));
    }
    if name == DEFAULT_WORKSPACE {
        return Err(fail("Cannot delete the default workspace", "The default workspace always exists."));
    }
    // The lock prevents another run from creating objects while the state is deleted.
    let location = workspaces.location(context, name)?;
    let (store, state) = open_state(context, location, &locking(&arguments.locking, "workspace-delete"))?;
    let objects = managed(&state);
    if !objects.is_empty() && !arguments.force.is_some_and(Flag::is_on) {
        return Err(not_empty(name, &objects));
    }
    // Deleting with -force still leaves a way back.
    let kept = if objects.is_empty() { None } else { Some(keep(name, &store, state)?) };
    match (workspaces.backend(), store) {
        (Backend::Remote(remote), StateHandle::Remote(handle)) => {
            // The lock is held until the state is gone, so that no other run can slip in between.
            handle.delete(remote, name).map_err(|problem| diagnostics(&problem))?;
        }
        (_, store) => {
            // The lock file is inside the directory, which cannot be removed on all systems while it is open.
            drop(store);
            if let Some(folder) = workspaces.folder(name) {
                std::fs::remove_dir_all(&folder).map_err(|problem| failed("remove", &folder, &problem))?;
            }
        }
    }
    let mut text = format!("Deleted workspace {name:?}!\n");
    if let Some(kept) = kept {
        text.push_str(&format!(
            "WARNING: {name:?} was non-empty.\nThe objects that the workspace tracked may still exist, but are no longer \
             managed.\nTo undo this: {} workspace new -state={} {name}\n",
            context.wording.command,
            kept.display()
        ));
    }
    context.report(&text);
    Ok(0)
}

fn managed(state: &State) -> Vec<String> {
    // Data sources are read again by the next plan, so they do not count.
    let managed = state.iter().filter(|view| view.resource.resource.mode == Mode::Managed);
    managed.map(|view| view.address().to_string()).collect()
}

/// Writes the state of a workspace to a backup outside its location.
fn keep(name: &str, store: &StateHandle, state: State) -> Result<PathBuf, Diagnostics> {
    let kept = claim_backup(Path::new(&format!("{name}.tfstate")))
        .map_err(|problem| failed("make a backup of", Path::new(&store.location()), &problem))?;
    let encryption = store.encryption().map(|encryption| &**encryption);
    let bytes = sealed_state(&state, encryption).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    write_whole(&kept, &bytes).map_err(|problem| failed("write", &kept, &problem))?;
    Ok(kept)
}

fn not_empty(name: &str, objects: &[String]) -> Diagnostics {
    let list: String = objects.iter().map(|address| format!("  - {address}\n")).collect();
    fail(
        "Workspace is not empty",
        format!(
            "Workspace {name:?} is currently tracking the following resource instances:\n{list}\nDeleting the workspace would leave \
             them unmanaged. Destroy them first, or use -force to delete the workspace anyway."
        ),
    )
}
