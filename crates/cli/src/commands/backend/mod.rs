//! The backend: location, record and locking of states.

mod block;
mod in_use;
mod local;
mod record;
mod workspace_name;

use std::path::Path;
use std::time::Duration;

use groma_config::{EncryptionMethods, Module};
use groma_diagnostics::Diagnostics;
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
use crate::settings::TERRAFORM_VERSION;

/// Flags that lead to other files than the backend's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Elsewhere<'a> {
    /// `-state`.
    pub state: Option<&'a Path>,
    /// `-state-out`.
    pub state_out: Option<&'a Path>,
    /// `-backup`.
    pub backup: Option<&'a Path>,
    /// The encryption of this directory, where the module comes from elsewhere.
    pub encryption: Option<&'a EncryptionMethods>,
}

impl<'a> From<&'a StateFiles> for Elsewhere<'a> {
    fn from(files: &'a StateFiles) -> Self {
        let (state, state_out) = (files.state.as_deref(), files.state_out.as_deref());
        Self { state, state_out, backup: files.backup.as_deref(), encryption: None }
    }
}

/// The files of the state that `module` and the flags ask for.
///
/// # Errors
///
/// The backend is one that is not there, its arguments are wrong, or it is not the one that `init` got ready.
pub(super) fn state_paths(
    context: &Context,
    module: &Module,
    elsewhere: Elsewhere<'_>,
) -> Result<StatePaths, Diagnostics> {
    let local = in_use(context, module)?;
    active_workspace(context)?;
    paths_in(&local, module, &context.settings.workspace, elsewhere)
}

/// Whether there is a state: an empty file is none, and the journal of a killed run is one.
pub(super) fn has_state(paths: &StatePaths) -> bool {
    std::fs::metadata(&paths.read).is_ok_and(|file| file.len() > 0) || paths.journal().exists()
}

/// The files of a workspace's state in `local`, sealed as `module` says.
///
/// # Errors
///
/// The workspace cannot have that name, or the encryption is wrong.
pub(super) fn paths_in(
    local: &Local,
    module: &Module,
    workspace: &str,
    elsewhere: Elsewhere<'_>,
) -> Result<StatePaths, Diagnostics> {
    valid_workspace(workspace)?;
    let mut paths = match elsewhere.state {
        Some(file) => StatePaths::of_file(file),
        None => local.files(workspace),
    };
    if let Some(file) = elsewhere.state_out {
        paths = paths.writing_to(file);
    }
    if let Some(file) = elsewhere.backup {
        paths = paths.with_backup(if file.as_os_str() == "-" { Backup::None } else { Backup::At(file.to_owned()) });
    }
    let encryption = match elsewhere.encryption {
        Some(methods) => methods.state.clone(),
        None => encryption::of(module)?.state,
    };
    Ok(paths.encrypted(encryption))
}

/// Returns the locking options for `operation`, one of Terraform's names such as `OperationTypePlan`.
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

/// Whether a flag with two states, on by default, is on.
pub(super) fn unless_off(flag: Option<Flag>) -> bool {
    flag.is_none_or(Flag::is_on)
}
