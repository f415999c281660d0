//! Diagnostics of a provider, which refer to attribute paths instead of source locations.

use std::fmt;

use groma_diagnostics::Severity;
use groma_value::Path;

/// Whether a provider call got its answer. The engine decides from this whether the real object may have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallFate {
    /// The provider answered, or no call was necessary.
    #[default]
    Answered,
    /// The request was sent but never answered: the provider may have carried it out.
    NoResponse,
    /// The request was not sent, because the provider had already ended.
    Unsent,
}

/// An error or a warning of a provider call.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderDiagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The headline, a single line.
    pub summary: String,
    /// The explanation in whole sentences; may be empty.
    pub detail: String,
    /// The attribute concerned; empty for the whole object.
    pub path: Path,
    /// Whether the call was answered.
    pub fate: CallFate,
}

impl ProviderDiagnostic {
    /// Creates an error about the whole object.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            path: Path::default(),
            fate: CallFate::Answered,
        }
    }

    /// Creates a warning about the whole object.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(summary, detail) }
    }

    /// Sets the attribute path.
    #[must_use]
    pub fn at(mut self, path: Path) -> Self {
        self.path = path;
        self
    }

    /// Marks the diagnostic as the result of an unanswered call.
    #[must_use]
    pub fn unanswered(mut self, fate: CallFate) -> Self {
        self.fate = fate;
        self
    }

    /// Whether the severity is error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Formats as `error: summary: detail`, followed by the path, if any, in parentheses.
impl fmt::Display for ProviderDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.is_error() { "error" } else { "warning" };
        write!(f, "{severity}: {}", self.summary)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        if self.path.is_empty() { Ok(()) } else { write!(f, " ({})", self.path) }
    }
}

/// The diagnostics of one response, in the provider's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProviderDiagnostics {
    list: Vec<ProviderDiagnostic>,
}

impl ProviderDiagnostics {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// Appends a diagnostic.
    pub fn push(&mut self, diagnostic: ProviderDiagnostic) {
        self.list.push(diagnostic);
    }

    /// Whether any diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(ProviderDiagnostic::is_error)
    }

    /// Returns the worst outcome of the calls that the diagnostics come from.
    pub fn fate(&self) -> CallFate {
        self.list.iter().map(|problem| problem.fate).find(|fate| *fate != CallFate::Answered).unwrap_or_default()
    }

    /// Whether the list contains neither errors nor warnings.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of errors and warnings.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Iterates over the diagnostics in the provider's order.
    pub fn iter(&self) -> std::slice::Iter<'_, ProviderDiagnostic> {
        self.list.iter()
    }
}

impl From<ProviderDiagnostic> for ProviderDiagnostics {
    fn from(diagnostic: ProviderDiagnostic) -> Self {
        Self { list: vec![diagnostic] }
    }
}

impl From<Vec<ProviderDiagnostic>> for ProviderDiagnostics {
    fn from(list: Vec<ProviderDiagnostic>) -> Self {
        Self { list }
    }
}

impl FromIterator<ProviderDiagnostic> for ProviderDiagnostics {
    fn from_iter<I: IntoIterator<Item = ProviderDiagnostic>>(iter: I) -> Self {
        Self { list: iter.into_iter().collect() }
    }
}

impl Extend<ProviderDiagnostic> for ProviderDiagnostics {
    fn extend<I: IntoIterator<Item = ProviderDiagnostic>>(&mut self, iter: I) {
        self.list.extend(iter);
    }
}

impl IntoIterator for ProviderDiagnostics {
    type Item = ProviderDiagnostic;
    type IntoIter = std::vec::IntoIter<ProviderDiagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a ProviderDiagnostics {
    type Item = &'a ProviderDiagnostic;
    type IntoIter = std::slice::Iter<'a, ProviderDiagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
