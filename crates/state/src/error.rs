//! Errors of the state store.

use std::fmt;
use std::io;
use std::path::Path;

use groma_diagnostics::{Diagnostic, capitalized, io_reason};

/// The kind of a [`StateError`], for callers that act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateErrorKind {
    /// The content is not a state, a plan or a journal, or is damaged.
    Malformed,
    /// The content is of a format or a version that is not read here.
    Unsupported,
    /// Another process holds the lock.
    Locked,
    /// The caller asked to stop waiting for the lock.
    Interrupted,
    /// Another process changed the file since it was read.
    Changed,
    /// The disk is full, or a quota or size limit is reached.
    DiskFull,
    /// The operating system refuses the access.
    Denied,
    /// Another failure of reading or writing.
    Io,
}

/// The reason why the state could not be read, locked or written.
///
/// The sentences never hold values out of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateError {
    /// The kind of the error, for code that reacts to it.
    pub kind: StateErrorKind,
    /// One line that people search for.
    pub summary: String,
    /// The cause and the remedy.
    pub detail: String,
    /// The cause alone, if the content of a state is damaged: how an earlier version is restored depends on the store.
    pub damage: Option<String>,
}

/// The remedy for a damaged state file.
const RESTORE: &str = "Restore the file from its backup (the same name with .backup at the end) or from your version control or bucket \
                       history.";

impl StateError {
    pub(crate) fn new(kind: StateErrorKind, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind, summary: summary.into(), detail: detail.into(), damage: None }
    }

    /// The failure of reading a damaged state, with the remedy for a file.
    pub(crate) fn damaged(summary: &str, damage: impl Into<String>) -> Self {
        let damage = Some(damage.into());
        Self { damage, ..Self::malformed(summary, "") }.restored_by(RESTORE)
    }

    /// Replaces the remedy, if this is about a damaged state. The default is that for a file.
    #[must_use]
    pub fn restored_by(mut self, advice: &str) -> Self {
        if let Some(damage) = &self.damage {
            self.detail = format!("{damage} {advice}");
        }
        self
    }

    /// The failure of changing a shared state without a run that claims the records.
    pub fn unclaimed(location: &str) -> Self {
        let detail = format!("No run of this process claims records of {location}. Nothing was changed.");
        Self::new(StateErrorKind::Unsupported, "Shared state not claimed", detail)
    }

    /// The failure of a remote store, whose `kind` callers act on.
    pub fn of_store(kind: StateErrorKind, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(kind, summary, detail)
    }

    pub(crate) fn malformed(summary: &str, detail: impl Into<String>) -> Self {
        Self::new(StateErrorKind::Malformed, summary, detail)
    }

    /// The failure of writing a state after one with the largest serial.
    pub(crate) fn serial_out_of_range(location: &str) -> Self {
        Self::malformed(
            "State serial out of range",
            format!(
                "The serial of the state in {location} is {}, the largest possible, so no state can follow it. Nothing was changed. If the \
                 state is right otherwise, set its serial to a smaller number with state pull, an editor and state push -force.",
                u64::MAX
            ),
        )
    }

    /// The failure of doing `action` (a verb such as `read`) with the file at `path`.
    pub(crate) fn io(action: &str, path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                StateErrorKind::DiskFull
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StateErrorKind::Denied,
            _ => StateErrorKind::Io,
        };
        let advice = match kind {
            StateErrorKind::DiskFull if error.kind() == io::ErrorKind::FileTooLarge => {
                " Raise the limit on the size of files (ulimit -f), then run the command again."
            }
            StateErrorKind::DiskFull => " Make room on the disk, then run the command again.",
            StateErrorKind::Denied => " Check the owner and the permissions of the file and its directory.",
            _ if error.kind() == io::ErrorKind::IsADirectory => " The path is a directory; a file is required.",
            _ if error.kind() == io::ErrorKind::NotFound => " Check the path: its directory must exist.",
            _ => "",
        };
        Self::new(
            kind,
            format!("Failed to {action} {}", path.display()),
            match error.raw_os_error() {
                Some(_) => format!("The operating system says: {}.{advice}", io_reason(error)),
                None => format!("{}.{advice}", capitalized(&io_reason(error))),
            },
        )
    }

    /// Appends a paragraph to the detail.
    pub(crate) fn with_advice(mut self, advice: &str) -> Self {
        // What follows the remedy must not be lost with it.
        self.damage = None;
        self.detail.push_str("\n\n");
        self.detail.push_str(advice);
        self
    }

    /// Names the file at `path` in the error. Errors about content do not know its file.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        let path = path.display();
        self.detail = format!("{path}: {}", self.detail);
        self.damage = self.damage.map(|damage| format!("{path}: {damage}"));
        self
    }

    /// As an error diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(&self.summary, &self.detail)
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.summary, self.detail)
    }
}

impl std::error::Error for StateError {}

impl From<StateError> for Diagnostic {
    fn from(error: StateError) -> Self {
        error.diagnostic()
    }
}
