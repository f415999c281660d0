//! Validation of workspace names.

use groma_diagnostics::Diagnostics;

use super::super::context::Context;
use super::super::outcome::fail;

/// Checks a workspace name, which becomes the name of a directory. Names from the environment and from the selection file need
/// the check just like arguments.
///
/// # Errors
/// The name contains characters that are not safe in a URL, or would escape its directory.
pub(in super::super) fn valid_workspace(name: &str) -> Result<(), Diagnostics> {
    // Terraform's test: the characters that Go's url.PathEscape leaves unchanged.
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.~$&+=:@".contains(c);
    if !name.is_empty() && name.chars().all(is_safe) && name != "." && name != ".." {
        return Ok(());
    }
    Err(fail(&format!("The workspace name {name:?} is not allowed"), FORM))
}

const FORM: &str = "A workspace name must not be empty, and may only contain letters, digits and characters that are safe in a URL, such \
                    as - and _. It must not contain a slash, because it is also the name of a directory. The workspace is selected by \
                    TF_WORKSPACE or \"workspace select\".";

/// Checks the name of the current workspace.
///
/// # Errors
/// The name is invalid; the error says whether it comes from `TF_WORKSPACE`.
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
