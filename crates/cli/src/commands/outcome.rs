//! The results of commands.

use std::io;

use groma_diagnostics::{Diagnostic, Diagnostics, capitalized, io_reason};

/// The result of a command: its exit code, or the errors that ended it.
pub(super) type Outcome = Result<u8, Diagnostics>;

/// The failure of a command because of one problem.
pub(super) fn fail(summary: &str, detail: impl Into<String>) -> Diagnostics {
    Diagnostic::error(summary, detail).into()
}

/// The failure of a command because the operating system does not allow another thread.
pub(super) fn no_thread(error: &io::Error) -> Diagnostics {
    let detail = format!(
        "{}. The limit on processes and threads may be reached: raise it (ulimit -u), or end other programs.",
        capitalized(&io_reason(error))
    );
    fail("Failed to start a thread", detail)
}

/// The failure of a command because it was not called as it must be.
pub(super) fn misuse(program: &str, command: &str, summary: &str, detail: impl AsRef<str>) -> Diagnostics {
    fail(
        summary,
        format!("{}\n\nThe options of this command are shown by:\n  {program} {command} -help", detail.as_ref()),
    )
}
