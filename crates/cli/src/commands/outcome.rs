//! Results of commands.

use std::io;

use groma_diagnostics::{Diagnostic, Diagnostics, capitalized, io_reason};

/// Exit code of a command, or the diagnostics that ended it.
pub(super) type Outcome = Result<u8, Diagnostics>;

/// Returns one error as diagnostics.
pub(super) fn fail(summary: &str, detail: impl Into<String>) -> Diagnostics {
    Diagnostic::error(summary, detail).into()
}

/// Returns the error for a thread that could not be started.
pub(super) fn no_thread(error: &io::Error) -> Diagnostics {
    let detail = format!(
        "{}. The limit on processes and threads may be reached. Raise it (ulimit -u), or stop other programs.",
        capitalized(&io_reason(error))
    );
    fail("Failed to start a thread", detail)
}

/// Returns the error for invalid arguments of `command`, with a pointer to its help.
pub(super) fn misuse(program: &str, command: &str, summary: &str, detail: impl AsRef<str>) -> Diagnostics {
    fail(summary, format!("{}\n\nFor the options of this command, run:\n  {program} {command} -help", detail.as_ref()))
}
