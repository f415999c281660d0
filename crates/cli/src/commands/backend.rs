//! Where the state is kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use groma_config::{EncryptionMethods, Module};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_state::{LockRequest, Locking, StatePaths};

use super::context::Context;
use super::encryption;
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
/// The backend is one that is not there, or its arguments are wrong.
pub(super) fn state_paths(
    context: &Context,
    module: &Module,
    elsewhere: Elsewhere<'_>,
) -> Result<StatePaths, Diagnostics> {
    paths_of_workspace(module, &context.settings.workspace, elsewhere)
}

/// Whether there is a state: an empty file is none, and the journal of a killed run is one.
pub(super) fn has_state(paths: &StatePaths) -> bool {
    std::fs::metadata(&paths.read).is_ok_and(|file| file.len() > 0) || paths.journal().exists()
}

/// The folder with a folder for each workspace but the default one.
pub(super) fn workspace_directory(module: &Module) -> Result<PathBuf, Diagnostics> {
    let directory = local_backend(module)?.workspace_directory;
    Ok(directory.unwrap_or_else(|| PathBuf::from("terraform.tfstate.d")))
}

/// The same for a workspace that need not be the selected one.
pub(super) fn paths_of_workspace(
    module: &Module,
    workspace: &str,
    elsewhere: Elsewhere<'_>,
) -> Result<StatePaths, Diagnostics> {
    let local = local_backend(module)?;
    let mut paths = match (elsewhere.state, local.path, local.workspace_directory, workspace) {
        (Some(file), ..) => StatePaths::of_file(file),
        (None, Some(file), _, "default") => StatePaths::of_file(file),
        (None, _, Some(directory), name) if name != "default" => {
            StatePaths::of_file(directory.join(name).join("terraform.tfstate"))
        }
        _ => StatePaths::of_workspace(Path::new(""), workspace),
    };
    if let Some(file) = elsewhere.state_out {
        paths = paths.writing_to(file);
    }
    if let Some(file) = elsewhere.backup {
        paths = paths.with_backup((file.as_os_str() != "-").then(|| file.to_owned()));
    }
    let encryption = match elsewhere.encryption {
        Some(methods) => methods.state.clone(),
        None => encryption::of(module)?.state,
    };
    Ok(paths.encrypted(encryption))
}

/// How to lock for `operation`, a word of Terraform's such as `OperationTypePlan`.
pub(super) fn locking(arguments: &arguments::Locking, operation: &str) -> Locking {
    if arguments.lock.is_some_and(|flag| !flag.is_on()) {
        return Locking::Off;
    }
    Locking::On(request(operation, arguments.lock_timeout.0))
}

fn request(operation: &str, timeout: Duration) -> LockRequest {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_else(|_| variable("HOSTNAME"));
    let user =
        ["USER", "LOGNAME", "USERNAME"].into_iter().map(variable).find(|name| !name.is_empty()).unwrap_or_default();
    LockRequest {
        operation: operation.to_owned(),
        info: String::new(),
        who: format!("{user}@{}", host.trim()),
        version: TERRAFORM_VERSION.to_owned(),
        timeout,
    }
}

#[derive(Default)]
struct Local {
    path: Option<PathBuf>,
    workspace_directory: Option<PathBuf>,
}

fn local_backend(module: &Module) -> Result<Local, Diagnostics> {
    if let Some(cloud) = &module.cloud {
        let detail = "The configuration keeps its state in HCP Terraform (a cloud block). This version of Groma knows the local backend \
                      only. Nothing was read or written. To keep the state in a local file, take the block out; for this one use the \
                      program that made the state.";
        return Err(Diagnostic::error("Unsupported backend type \"cloud\"", detail).at(cloud.span).into());
    }
    let Some(backend) = &module.backend else { return Ok(Local::default()) };
    if &*backend.kind != "local" {
        let detail = format!(
            "The configuration keeps its state in the backend \"{}\". This version of Groma knows the local backend only. Nothing was \
             read or written. To keep the state in a local file, take the block out; for this one use the program that made the state.",
            backend.kind
        );
        let summary = format!("Unsupported backend type \"{}\"", backend.kind);
        return Err(Diagnostic::error(summary, detail).at(backend.kind_span).into());
    }
    let (attributes, mut problems) = backend.body.attributes();
    let mut local = Local::default();
    for attribute in attributes {
        let slot = match &*attribute.name.name {
            "path" => &mut local.path,
            "workspace_dir" => &mut local.workspace_directory,
            other => {
                let detail = format!("The local backend has no argument {other:?}. It has path and workspace_dir.");
                problems.push(Diagnostic::error("Unsupported argument", detail).at(attribute.name.span));
                continue;
            }
        };
        match backend.known.get(&attribute.name.name) {
            Some(value) if value.is_null() => {}
            Some(value) if value.as_str() == Some("") => {
                let name = &attribute.name.name;
                let detail = format!(
                    "The \"{name}\" attribute value must not be empty. Give a path, or leave the argument out."
                );
                problems.push(Diagnostic::error("Invalid local state file path", detail).at(attribute.expression.span));
            }
            Some(value) if value.as_str().is_some() => *slot = value.as_str().map(PathBuf::from),
            _ => {
                let detail = "The argument has to be a string that is known before anything is planned: a constant, a variable with a \
                              value that is neither sensitive nor ephemeral, or a local value made of such.";
                problems.push(Diagnostic::error("Invalid backend argument", detail).at(attribute.expression.span));
            }
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(local) }
}

/// Whether a flag with two states, on by default, is on.
pub(super) fn unless_off(flag: Option<Flag>) -> bool {
    flag.is_none_or(Flag::is_on)
}
