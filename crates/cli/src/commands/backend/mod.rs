//! Backends: location, locking and encryption of the state.

mod block;
mod config;
mod handle;
mod in_use;
mod local;
mod location;
mod record;
mod shared;
mod tokens;
mod workspace_name;

use std::path::Path;
use std::time::Duration;

use groma_backend::{Environment, Host, RemoteBackend, Tokens, persist_intervals};
use groma_config::{EncryptionMethods, Module};
use groma_diagnostics::{Diagnostics, capitalized, io_reason};
use groma_provider::TERRAFORM_VERSION;
use groma_state::{Backup, DamagedJournal, LockRequest, Locking, StatePaths};

pub(super) use block::{Configured, Settings as BackendSettings, configured, given};
pub(super) use config::{BackendConfig, SerializedBackend};
pub(super) use handle::{StateHandle, unreleased};
pub(super) use in_use::in_use;
pub(super) use local::Local;
pub(super) use location::{RemoteLocation, StateLocation, diagnostics};
pub(super) use record::{Record, RecordFile};
pub(super) use shared::{SharedHandle, SharedOpened, SharedUse};
use tokens::InstalledTokens;
pub(super) use workspace_name::{active_workspace, valid_workspace};

use super::context::Context;
use super::encryption;
use super::outcome::fail;
use super::servers;
use crate::arguments::{self, Flag, StateFiles};
use crate::environment::account;

/// State files that replace those of the backend.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StateOverrides<'a> {
    /// `-state`.
    pub state: Option<&'a Path>,
    /// `-state-out`.
    pub state_out: Option<&'a Path>,
    /// `-backup`.
    pub backup: Option<&'a Path>,
    /// Encryption of the working directory, for a configuration that was loaded from a plan file.
    pub encryption: Option<&'a EncryptionMethods>,
}

impl<'a> From<&'a StateFiles> for StateOverrides<'a> {
    fn from(files: &'a StateFiles) -> Self {
        let (state, state_out) = (files.state.as_deref(), files.state_out.as_deref());
        Self { state, state_out, backup: files.backup.as_deref(), encryption: None }
    }
}

/// A backend that can be used.
#[derive(Clone)]
pub(super) enum Backend {
    Local(Local),
    Remote(RemoteBackend),
}

impl Backend {
    /// Returns the names of all workspaces: the one that always exists first, the others sorted.
    ///
    /// # Errors
    /// The workspaces cannot be listed.
    pub fn workspaces(&self) -> Result<Vec<String>, Diagnostics> {
        match self {
            Self::Local(local) => local.workspaces().map_err(|problem| {
                fail(
                    &format!("Failed to list the workspaces in {}", local.workspace_directory().display()),
                    format!("{problem}.", problem = capitalized(&io_reason(&problem))),
                )
            }),
            Self::Remote(remote) => remote.workspaces().map_err(|problem| diagnostics(&problem)),
        }
    }

    /// Whether the backend has several workspaces.
    pub fn has_workspaces(&self) -> bool {
        match self {
            Self::Local(_) => true,
            Self::Remote(remote) => remote.has_workspaces(),
        }
    }
}

/// Returns the environment of stores.
pub(super) fn environment(context: &Context) -> Environment {
    Environment::of(context.settings.environment.texts())
}

/// Returns the surroundings of stores.
pub(super) fn host(context: &Context) -> Host {
    Host {
        environment: environment(context),
        home: context.settings.home.clone(),
        user_agent: concat!("Groma/", env!("CARGO_PKG_VERSION")).to_owned(),
        tokens: Tokens::of(InstalledTokens(servers::credentials(&context.settings, &context.cli))),
    }
}

/// Returns the location of the state that `module` and the flags select.
///
/// # Errors
///
/// The backend is not supported, its arguments are invalid, or it is not the initialized one.
pub(super) fn state_location(
    context: &Context,
    module: &Module,
    overrides: StateOverrides<'_>,
) -> Result<StateLocation, Diagnostics> {
    let backend = in_use(context, module)?.connect(context)?;
    active_workspace(context)?;
    location_in(context, &backend, module, &context.settings.workspace, overrides)
}

/// Returns the location of a workspace's state in `backend`, encrypted as `module` configures. Flags that name state files
/// apply to the local backend only, as in Terraform.
///
/// # Errors
///
/// The workspace name or the encryption is invalid, or the backend has no workspaces.
pub(super) fn location_in(
    context: &Context,
    backend: &Backend,
    module: &Module,
    workspace: &str,
    overrides: StateOverrides<'_>,
) -> Result<StateLocation, Diagnostics> {
    valid_workspace(workspace)?;
    let encryption = match overrides.encryption {
        Some(methods) => methods.state.clone(),
        None => encryption::of(module)?.state,
    };
    match backend {
        Backend::Local(local) => Ok(StateLocation::Files(files_in(local, workspace, overrides).encrypted(encryption))),
        Backend::Remote(remote) if !remote.supports_workspace(workspace) => {
            Err(diagnostics(&remote.no_workspace(workspace)))
        }
        Backend::Remote(remote) => Ok(StateLocation::Remote(RemoteLocation {
            backend: remote.clone(),
            workspace: workspace.to_owned(),
            encryption,
            // As in Terraform, remote states have no backup files.
            backup: Backup::None,
            damaged_journal: DamagedJournal::default(),
            journals: context.settings.data_directory.join("state-journals"),
            persist_intervals: persist_intervals(&environment(context)),
        })),
    }
}

/// Returns the location of a state file that a flag of a `state` subcommand names.
///
/// # Errors
/// The encryption is invalid.
pub(super) fn file_location(module: &Module, file: &Path) -> Result<StateLocation, Diagnostics> {
    Ok(StateLocation::Files(StatePaths::of_file(file).encrypted(encryption::of(module)?.state)))
}

fn files_in(local: &Local, workspace: &str, overrides: StateOverrides<'_>) -> StatePaths {
    let mut paths = match overrides.state {
        Some(file) => StatePaths::of_file(file),
        None => local.files(workspace),
    };
    if let Some(file) = overrides.state_out {
        paths = paths.writing_to(file);
    }
    match overrides.backup {
        // Terraform's spelling for no backup.
        Some(file) if file.as_os_str() == "-" => paths.with_backup(Backup::None),
        Some(file) => paths.with_backup(Backup::At(file.to_owned())),
        None => paths,
    }
}

/// Returns the locking for `operation`, which the lock info names as Terraform does: `OperationTypePlan`, for example.
pub(super) fn locking(arguments: &arguments::Locking, operation: &str) -> Locking {
    if arguments.lock.is_some_and(|flag| !flag.is_on()) {
        return Locking::Off;
    }
    Locking::On(request(operation, arguments.lock_timeout.0))
}

pub(super) fn request(operation: &str, timeout: Duration) -> LockRequest {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_else(|_| variable("HOSTNAME"));
    // The user database first, as in Terraform: the variables may be those of another user, or missing.
    let user = account()
        .map(|account| account.name)
        .or_else(|| ["USER", "LOGNAME", "USERNAME"].into_iter().map(variable).find(|name| !name.is_empty()));
    let user = user.unwrap_or_default();
    LockRequest {
        operation: operation.to_owned(),
        info: String::new(),
        who: format!("{user}@{}", host.trim()),
        version: TERRAFORM_VERSION.to_owned(),
        timeout,
    }
}

/// Whether a flag that defaults to on is on.
pub(super) fn unless_off(flag: Option<Flag>) -> bool {
    flag.is_none_or(Flag::is_on)
}
