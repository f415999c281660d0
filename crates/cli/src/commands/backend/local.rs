//! The local backend, which stores each workspace's state in a file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use groma_backend::{Argument, BackendSchema};
use groma_diagnostics::{Diagnostics, io_reason};
use groma_state::StatePaths;
use groma_value::{Type, Value};

use super::super::outcome::fail;
use crate::settings::DEFAULT_WORKSPACE;

/// Arguments of a `backend "local"` block; all unset without a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Local {
    /// State file of the default workspace.
    pub path: Option<String>,
    /// Directory that holds one directory for each other workspace.
    pub workspace_dir: Option<String>,
}

/// Returns the argument schema of the local backend.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        BackendSchema::new([
            Argument::optional("path", Type::String),
            Argument::optional("workspace_dir", Type::String),
        ])
    });
    &SCHEMA
}

impl Local {
    /// Returns the backend with this configuration.
    pub fn of(config: &Value) -> Self {
        let text = |name| config.attribute(name).and_then(|value| value.as_str().map(str::to_owned));
        Self { path: text("path"), workspace_dir: text("workspace_dir") }
    }

    /// Returns the state files of a workspace, without encryption.
    pub fn files(&self, workspace: &str) -> StatePaths {
        // Only the default workspace uses `path`: the states of other workspaces have a directory each.
        match (&self.path, workspace) {
            (Some(file), DEFAULT_WORKSPACE) => StatePaths::of_file(file),
            (None, DEFAULT_WORKSPACE) => StatePaths::of_workspace(Path::new(""), workspace),
            (_, name) => StatePaths::of_file(self.workspace_directory().join(name).join("terraform.tfstate")),
        }
    }

    /// Returns the directory that holds one directory for each workspace but the default one.
    pub fn workspace_directory(&self) -> PathBuf {
        self.workspace_dir.as_deref().map_or_else(|| PathBuf::from("terraform.tfstate.d"), PathBuf::from)
    }

    /// Creates a workspace, so that it is listed before it has a state. The default workspace always exists.
    ///
    /// # Errors
    /// The directory of the workspace cannot be created.
    pub fn make(&self, workspace: &str) -> Result<(), Diagnostics> {
        if workspace == DEFAULT_WORKSPACE {
            return Ok(());
        }
        let folder = self.workspace_directory().join(workspace);
        std::fs::create_dir_all(&folder).map_err(|problem| {
            fail(
                &format!("Failed to create {}", folder.display()),
                format!("The directory of the workspace cannot be created: {problem}.", problem = io_reason(&problem)),
            )
        })
    }

    /// Returns the names of all workspaces: the default one first, the others sorted.
    ///
    /// # Errors
    /// The directory of workspaces exists but cannot be read.
    pub fn workspaces(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        match std::fs::read_dir(self.workspace_directory()) {
            Ok(entries) => {
                let folders = entries.flatten().filter(|entry| entry.path().is_dir());
                names.extend(folders.filter_map(|entry| entry.file_name().into_string().ok()));
            }
            // The directory is created with the first workspace.
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => {}
            Err(problem) => return Err(problem),
        }
        // A directory named "default" is not the default workspace, whose state is elsewhere.
        names.retain(|name| name != DEFAULT_WORKSPACE);
        names.sort();
        names.insert(0, DEFAULT_WORKSPACE.to_owned());
        Ok(names)
    }
}
