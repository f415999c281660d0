//! The workspaces of the backend, and the selection of the current one.

use std::path::PathBuf;
use std::sync::Arc;

use groma_config::Module;
use groma_diagnostics::{Diagnostics, capitalized, io_reason};
use groma_state::StatePaths;

use super::super::backend::{Local, StateOverrides, in_use, paths_in};
use super::super::configuration::{Purpose, load};
use super::super::context::Context;
use super::super::outcome::fail;
use crate::settings::DEFAULT_WORKSPACE;

/// Workspaces of the configuration in the working directory.
pub(super) struct Workspaces {
    backend: Local,
    root: Arc<Module>,
}

impl Workspaces {
    pub fn of(context: &Context) -> Result<Self, Diagnostics> {
        let (configuration, _) = load(context, Purpose::ReadState)?;
        let backend = in_use(context, &configuration.root)?;
        Ok(Self { backend, root: configuration.root })
    }

    /// Returns the names: the default one first, the others sorted.
    pub fn names(&self) -> Result<Vec<String>, Diagnostics> {
        self.backend
            .workspaces()
            .map_err(|problem| failed("list the workspaces in", &self.backend.workspace_directory(), &problem))
    }

    pub fn exists(&self, name: &str) -> bool {
        // The default workspace has no directory of its own.
        name == DEFAULT_WORKSPACE || self.folder(name).is_dir()
    }

    /// Returns the directory of a workspace other than the default one.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.backend.workspace_directory().join(name)
    }

    pub fn state_paths(&self, name: &str) -> Result<StatePaths, Diagnostics> {
        paths_in(&self.backend, &self.root, name, StateOverrides::default())
    }

    pub fn make(&self, name: &str) -> Result<(), Diagnostics> {
        self.backend.make(name)
    }
}

/// Selects the workspace `name` for all following commands.
pub(super) fn choose(context: &Context, name: &str) -> Result<(), Diagnostics> {
    let directory = &context.settings.data_directory;
    let file = directory.join("environment");
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&file, name))
        .map_err(|problem| failed("write", &file, &problem))
}

/// Returns the only argument.
pub(super) fn single_name(rest: &[String]) -> Result<&str, Diagnostics> {
    match rest {
        [name] => Ok(name),
        _ => Err(fail("Expected a single argument: NAME", "The argument is the name of a workspace.")),
    }
}

/// Checks that `TF_WORKSPACE` does not override the selection.
pub(super) fn not_overridden(context: &Context) -> Result<(), Diagnostics> {
    if !context.settings.workspace_is_overridden {
        return Ok(());
    }
    Err(fail(
        "The selected workspace is currently overridden using the TF_WORKSPACE environment variable",
        "While the variable is set, other workspaces cannot be created or selected. Change the variable, or unset it and run this \
         command again.",
    ))
}

pub(super) fn absent(context: &Context, name: &str) -> Diagnostics {
    fail(
        // Wrappers match this text including the full stop.
        &format!("Workspace {name:?} doesn't exist."),
        format!(
            "Create it with \"{0} workspace new {name}\", or add -or-create to \"{0} workspace select\".",
            context.wording.command
        ),
    )
}

pub(super) fn failed(action: &str, path: &std::path::Path, problem: &std::io::Error) -> Diagnostics {
    fail(
        &format!("Failed to {action} {}", path.display()),
        format!("{problem}.", problem = capitalized(&io_reason(problem))),
    )
}
