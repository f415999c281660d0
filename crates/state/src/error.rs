//! Errors about state, with messages for people.

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

/// The error of reading, locking or writing a state.
///
/// The sentences never hold values out of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateError {
    /// The kind of the error, for decisions in code.
    pub kind: StateErrorKind,
    /// One line that people search for.
    pub summary: String,
    /// The description of the error, with advice.
    pub detail: String,
}

impl StateError {
    pub(crate) fn new(kind: StateErrorKind, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind, summary: summary.into(), detail: detail.into() }
    }

    pub(crate) fn malformed(summary: &str, detail: impl Into<String>) -> Self {
        Self::new(StateErrorKind::Malformed, summary, detail)
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
            StateErrorKind::Denied => " Check who owns the file and its folder, and their permissions.",
            _ if error.kind() == io::ErrorKind::IsADirectory => " The path names a folder; a file is needed.",
            _ if error.kind() == io::ErrorKind::NotFound => " Check the path: its folder must exist.",
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

    /// Adds a paragraph of advice.
    pub(crate) fn with_advice(mut self, advice: &str) -> Self {
        self.detail.push_str("\n\n");
        self.detail.push_str(advice);
        self
    }

    /// Adds the file at `path`, for errors of content, which do not know the file.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.detail = format!("{}: {}", path.display(), self.detail);
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
