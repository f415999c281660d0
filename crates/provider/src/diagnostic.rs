//! Diagnostics as a provider gives them: about a path of an object, not about a place in a file.

use std::fmt;

use groma_diagnostics::Severity;
use groma_value::Path;

/// The fate of the provider call that a problem comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallFate {
    /// The provider answered, or there was nothing to ask.
    #[default]
    Answered,
    /// The request was sent and no answer came: the provider may have done what it was asked for.
    Lost,
    /// The request was never sent, since the provider was gone before.
    Unsent,
}

/// One problem or warning of a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderDiagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One line.
    pub summary: String,
    /// Whole sentences; may be empty.
    pub detail: String,
    /// The attribute it is about; empty for the whole object.
    pub path: Path,
    /// The fate of the call.
    pub fate: CallFate,
}

impl ProviderDiagnostic {
    /// An error about the whole object.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            path: Path::default(),
            fate: CallFate::Answered,
        }
    }

    /// A warning about the whole object.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(summary, detail) }
    }

    /// The same, about the attribute at `path`.
    #[must_use]
    pub fn at(mut self, path: Path) -> Self {
        self.path = path;
        self
    }

    /// Creates an error about a call that was not answered.
    #[must_use]
    pub fn unanswered(mut self, fate: CallFate) -> Self {
        self.fate = fate;
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// `error: summary: detail`, with the path where there is one.
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

/// Problems and warnings of one response, in the provider's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProviderDiagnostics {
    list: Vec<ProviderDiagnostic>,
}

impl ProviderDiagnostics {
    /// None.
    pub const fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: ProviderDiagnostic) {
        self.list.push(diagnostic);
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(ProviderDiagnostic::is_error)
    }

    /// The fate of the provider call that they come from.
    pub fn fate(&self) -> CallFate {
        self.list.iter().map(|problem| problem.fate).find(|fate| *fate != CallFate::Answered).unwrap_or_default()
    }

    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// All of them.
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
