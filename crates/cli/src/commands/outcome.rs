//! How commands end.

use groma_diagnostics::{Diagnostic, Diagnostics};

/// How a command ends: its exit code, or the problems that ended it.
pub(super) type Outcome = Result<u8, Diagnostics>;

/// The failure of a command because of one problem.
pub(super) fn fail(summary: &str, detail: impl Into<String>) -> Diagnostics {
    Diagnostic::error(summary, detail).into()
}

/// The failure of a command because it was not called as it must be.
pub(super) fn misuse(program: &str, command: &str, summary: &str, detail: impl AsRef<str>) -> Diagnostics {
    fail(
        summary,
        format!("{}\n\nThe options of this command are shown by:\n  {program} {command} -help", detail.as_ref()),
    )
}
