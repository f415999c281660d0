//! Validation of workspace names.

use groma_diagnostics::Diagnostics;

use super::super::context::Context;
use super::super::outcome::fail;

/// Whether a name can be that of a workspace. The environment and the file that remembers the selection are no more trusted than an
/// argument: the name is that of a folder.
///
/// # Errors
/// It would not stay as it is in a URL, or it would lead out of its folder.
pub(in super::super) fn valid_workspace(name: &str) -> Result<(), Diagnostics> {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.~$&+=:@".contains(c);
    if !name.is_empty() && name.chars().all(is_safe) && name != "." && name != ".." {
        return Ok(());
    }
    Err(fail(&format!("The workspace name {name:?} is not allowed"), FORM))
}

const FORM: &str = "A name consists of letters, digits and characters that stay as they are in a URL, such as - and _. It is the name \
                    of a folder, so it cannot hold a slash, and it cannot be empty. TF_WORKSPACE and \"workspace select\" say which \
                    one is used.";

/// Whether the workspace that is in use can have its name.
///
/// # Errors
/// The name is invalid; the message says so if it comes from the environment.
pub(in super::super) fn active_workspace(context: &Context) -> Result<(), Diagnostics> {
    let name = &context.settings.workspace;
    valid_workspace(name).map_err(|problems| {
        if context.settings.workspace_is_overridden {
            let detail = format!("The workspace name {name:?} is not allowed. {FORM}");
            fail("Invalid workspace name set using TF_WORKSPACE", detail)
        } else {
            problems
        }
    })
}
