//! Location of workspaces, and the selected one.

use std::path::PathBuf;
use std::sync::Arc;

use groma_config::Module;
use groma_diagnostics::{Diagnostics, io_reason};
use groma_state::StatePaths;

use super::super::backend::{Elsewhere, Local, in_use, paths_in};
use super::super::configuration::load_for_state;
use super::super::context::Context;
use super::super::outcome::fail;
use crate::settings::DEFAULT_WORKSPACE;

/// The workspaces of the configuration in this directory.
pub(super) struct Places {
    backend: Local,
    root: Arc<Module>,
}

impl Places {
    pub fn of(context: &Context) -> Result<Self, Diagnostics> {
        let configuration = load_for_state(context)?;
        let backend = in_use(context, &configuration.root)?;
        Ok(Self { backend, root: configuration.root })
    }

    /// The names, the default one first, the others sorted.
    pub fn names(&self) -> Result<Vec<String>, Diagnostics> {
        self.backend
            .workspaces()
            .map_err(|problem| failed("list the workspaces in", &self.backend.workspace_directory(), &problem))
    }

    pub fn exists(&self, name: &str) -> bool {
        name == DEFAULT_WORKSPACE || self.folder(name).is_dir()
    }

    /// The folder that holds the state of a workspace other than the default one.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.backend.workspace_directory().join(name)
    }

    pub fn state_paths(&self, name: &str) -> Result<StatePaths, Diagnostics> {
        paths_in(&self.backend, &self.root, name, Elsewhere::default())
    }

    pub fn make(&self, name: &str) -> Result<(), Diagnostics> {
        self.backend.make(name)
    }
}

/// Makes `name` the workspace of the commands to come.
pub(super) fn choose(context: &Context, name: &str) -> Result<(), Diagnostics> {
    let directory = &context.settings.data_directory;
    let file = directory.join("environment");
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&file, name))
        .map_err(|problem| failed("write", &file, &problem))
}

/// Returns the only argument, a workspace name.
pub(super) fn single_name(rest: &[String]) -> Result<&str, Diagnostics> {
    match rest {
        [name] => Ok(name),
        _ => Err(fail("Expected a single argument: NAME", "Give the name of one workspace.")),
    }
}

/// Selecting has no effect while a variable of the environment selects.
pub(super) fn not_overridden(context: &Context) -> Result<(), Diagnostics> {
    if !context.settings.workspace_is_overridden {
        return Ok(());
    }
    Err(fail(
        "The selected workspace is currently overridden using the TF_WORKSPACE environment variable",
        "While that variable is set another workspace cannot be made or selected. Change it, or unset it and run this command \
         again.",
    ))
}

pub(super) fn absent(context: &Context, name: &str) -> Diagnostics {
    fail(
        // Wrappers look for this with the full stop.
        &format!("Workspace {name:?} doesn't exist."),
        format!(
            "Make it with \"{0} workspace new {name}\", or give the -or-create flag to \"{0} workspace select\".",
            context.wording.command
        ),
    )
}

pub(super) fn failed(action: &str, path: &std::path::Path, problem: &std::io::Error) -> Diagnostics {
    fail(
        &format!("Failed to {action} {}", path.display()),
        format!("The operating system says: {problem}.", problem = io_reason(problem)),
    )
}
