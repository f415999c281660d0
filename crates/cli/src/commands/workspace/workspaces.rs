//! The workspaces of the backend, and the selection of the current one.

use std::path::PathBuf;
use std::sync::Arc;

use groma_backend::WorkspaceSupport;
use groma_config::Module;
use groma_diagnostics::{Diagnostics, capitalized, io_reason};
use groma_provider::TERRAFORM_VERSION;
use groma_state::{Locking, State};

use super::super::backend::{Backend, StateLocation, StateOverrides, diagnostics, in_use, location_in, request};
use super::super::configuration::{Purpose, load};
use super::super::context::Context;
use super::super::outcome::fail;
use crate::settings::DEFAULT_WORKSPACE;

/// Workspaces of the configuration in the working directory.
pub(in super::super) struct Workspaces {
    backend: Backend,
    root: Arc<Module>,
}

impl Workspaces {
    /// Returns the workspaces of the initialized backend.
    ///
    /// # Errors
    /// The backend is not initialized, or has only the default workspace.
    pub fn of(context: &Context) -> Result<Self, Diagnostics> {
        let (configuration, _) = load(context, Purpose::ReadState)?;
        let backend = in_use(context, &configuration.root)?.connect(context)?;
        match &backend {
            // The one workspace that a cloud block names is listed, like in Terraform.
            Backend::Remote(remote) if remote.store().workspace_support() == WorkspaceSupport::DefaultOnly => {
                Err(diagnostics(&remote.no_workspace(DEFAULT_WORKSPACE)))
            }
            _ => Ok(Self { backend, root: configuration.root }),
        }
    }

    /// Returns the workspaces of a backend that `init` has just prepared.
    pub fn in_backend(backend: Backend, root: Arc<Module>) -> Self {
        Self { backend, root }
    }

    /// Returns the names: the default one first, the others sorted.
    pub fn names(&self) -> Result<Vec<String>, Diagnostics> {
        self.backend.workspaces()
    }

    pub fn exists(&self, name: &str) -> Result<bool, Diagnostics> {
        // The default workspace always exists, even without a directory or an object.
        match (&self.backend, self.folder(name)) {
            (Backend::Local(_), _) if name == DEFAULT_WORKSPACE => Ok(true),
            (Backend::Remote(remote), _) if remote.default_workspace().as_deref() == Some(name) => Ok(true),
            (Backend::Local(_), Some(folder)) => Ok(folder.is_dir()),
            _ => Ok(self.names()?.iter().any(|known| known == name)),
        }
    }

    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Returns the directory of a workspace of the local backend, other than the default one.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        match &self.backend {
            Backend::Local(local) => Some(local.workspace_directory().join(name)),
            Backend::Remote(_) => None,
        }
    }

    pub fn location(&self, context: &Context, name: &str) -> Result<StateLocation, Diagnostics> {
        // State flags select single files, while a workspace command works on the backend itself.
        location_in(context, &self.backend, &self.root, name, StateOverrides::default())
    }

    /// Creates a workspace, so that it is listed before it has a state: a remote one gets an empty state under its lock.
    ///
    /// # Errors
    /// The directory or the object cannot be created.
    pub fn make(&self, context: &Context, name: &str) -> Result<(), Diagnostics> {
        if let Backend::Local(local) = &self.backend {
            return local.make(name);
        }
        if name == DEFAULT_WORKSPACE {
            return Ok(());
        }
        // Without a wait: another run that holds the lock is about to create the workspace.
        let locking = Locking::On(request("init", std::time::Duration::ZERO));
        let (mut store, opened) = self.location(context, name)?.open(context, &locking, None)?;
        // Another run may have created it meanwhile.
        if opened.state.is_some() {
            return Ok(());
        }
        let mut state = State::new(TERRAFORM_VERSION);
        // A serial of 1 makes the empty state one that was written.
        state.serial = 1;
        store.put(&mut state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        Ok(())
    }
}

/// Selects the workspace `name` for all following commands.
pub(in super::super) fn choose(context: &Context, name: &str) -> Result<(), Diagnostics> {
    let directory = &context.settings.data_directory;
    let file = directory.join("environment");
    // Terraform reads the same file, so both programs see one selection.
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
