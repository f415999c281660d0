//! Backends: location, locking and encryption of the state.

mod block;
mod in_use;
mod local;
mod record;
mod workspace_name;

use std::path::Path;
use std::time::Duration;

use groma_config::{EncryptionMethods, Module};
use groma_diagnostics::Diagnostics;
use groma_provider::TERRAFORM_VERSION;
use groma_state::{Backup, LockRequest, Locking, StatePaths};

pub(super) use block::{Configured, configured, given};
pub(super) use in_use::in_use;
pub(super) use local::Local;
pub(super) use record::{Record, RecordFile};
pub(super) use workspace_name::{active_workspace, valid_workspace};

use super::context::Context;
use super::encryption;
use crate::account::account;
use crate::arguments::{self, Flag, StateFiles};

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

/// Returns the state files that `module` and the flags select.
///
/// # Errors
///
/// The backend is not supported, its arguments are invalid, or it is not the initialized one.
pub(super) fn state_paths(
    context: &Context,
    module: &Module,
    overrides: StateOverrides<'_>,
) -> Result<StatePaths, Diagnostics> {
    let local = in_use(context, module)?;
    active_workspace(context)?;
    paths_in(&local, module, &context.settings.workspace, overrides)
}

/// Whether a state exists. An empty file does not count, but the journal of a killed run does.
pub(super) fn has_state(paths: &StatePaths) -> bool {
    std::fs::metadata(&paths.read).is_ok_and(|file| file.len() > 0) || paths.journal().exists()
}

/// Returns the state files of a workspace in `local`, encrypted as `module` configures.
///
/// # Errors
///
/// The workspace name or the encryption is invalid.
pub(super) fn paths_in(
    local: &Local,
    module: &Module,
    workspace: &str,
    overrides: StateOverrides<'_>,
) -> Result<StatePaths, Diagnostics> {
    valid_workspace(workspace)?;
    let mut paths = match overrides.state {
        Some(file) => StatePaths::of_file(file),
        None => local.files(workspace),
    };
    if let Some(file) = overrides.state_out {
        paths = paths.writing_to(file);
    }
    if let Some(file) = overrides.backup {
        paths = paths.with_backup(if file.as_os_str() == "-" { Backup::None } else { Backup::At(file.to_owned()) });
    }
    let encryption = match overrides.encryption {
        Some(methods) => methods.state.clone(),
        None => encryption::of(module)?.state,
    };
    Ok(paths.encrypted(encryption))
}

/// Returns the locking for `operation`, which the lock info names as Terraform does: `OperationTypePlan`, for example.
pub(super) fn locking(arguments: &arguments::Locking, operation: &str) -> Locking {
    if arguments.lock.is_some_and(|flag| !flag.is_on()) {
        return Locking::Off;
    }
    Locking::On(request(operation, arguments.lock_timeout.0))
}

fn request(operation: &str, timeout: Duration) -> LockRequest {
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
