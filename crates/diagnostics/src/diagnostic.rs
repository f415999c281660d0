//! Diagnostics: the problem, its location, and the advice.

use crate::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The operation cannot go on, or its result cannot be trusted.
    Error,
    /// The operation goes on.
    Warning,
}

/// The kind of a problem that some code treats differently from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// A problem that is shown like any other.
    #[default]
    General,
    /// A configuration requires another version of the program.
    UnsupportedVersion,
    /// An assertion of a check block depends on values that are known only after apply.
    UnknownAssertion,
}

/// A value that took part in a problem, for the reader: `var.name` and `is "x"`.
///
/// Sensitive values have to be replaced before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observed {
    /// The expression as its author wrote it.
    pub expression: String,
    /// The description of the value, beginning with a verb: `is "x"`, `is a list of string`, `has a sensitive value`.
    pub statement: String,
}

/// The function whose call went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionCall {
    /// Its name as the author of the call wrote it, with the namespace: `upper`, `core::max`, `provider::time::rfc3339_parse`.
    pub called_as: String,
    /// The parameters of the function.
    pub parameters: Vec<FunctionParameter>,
    /// The parameter for all further arguments.
    pub variadic: Option<FunctionParameter>,
    /// The type of its result, as JSON describes types: `"string"`, `["list","string"]`.
    pub result: String,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionParameter {
    /// The name of the parameter.
    pub name: String,
    /// Its type, as JSON describes types.
    pub ty: String,
}

/// One problem or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity of the problem.
    pub severity: Severity,
    /// What it is, where code decides on it.
    pub kind: DiagnosticKind,
    /// One line that people search for; no full stop.
    pub summary: String,
    /// Whole sentences: what happened and what to do. May hold several paragraphs.
    pub detail: String,
    /// The text at fault.
    pub subject: Option<Span>,
    /// The text around the subject that a reader needs to see with it (the whole block or argument).
    pub context: Option<Span>,
    /// All the text that is wrong with it: whatever else is said of that text follows from this.
    pub covers: Option<Span>,
    /// The text that makes this a mistake: while that is wrong itself, nobody knows.
    pub premise: Option<Span>,
    /// Values of the expressions at fault.
    pub observed: Vec<Observed>,
    /// The function that was called.
    pub call: Option<Box<FunctionCall>>,
    /// The resource instance it is about, printed as `with ADDRESS`.
    pub address: Option<String>,
    /// The deprecated object, for a diagnostic about its use.
    pub origin: Option<String>,
}

impl Diagnostic {
    /// Creates an error diagnostic.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary.into(), detail.into())
    }

    /// Creates a warning diagnostic.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Warning, summary.into(), detail.into())
    }

    fn new(severity: Severity, summary: String, detail: String) -> Self {
        Self {
            severity,
            kind: DiagnosticKind::General,
            summary,
            detail,
            subject: None,
            context: None,
            covers: None,
            premise: None,
            observed: Vec::new(),
            call: None,
            address: None,
            origin: None,
        }
    }

    /// The same, of another kind.
    #[must_use]
    pub fn of_kind(mut self, kind: DiagnosticKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the subject to the text at `span`.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.subject = (!span.is_none()).then_some(span);
        self
    }

    /// Sets the context to the text at `span`.
    #[must_use]
    pub fn within(mut self, span: Span) -> Self {
        self.context = (!span.is_none()).then_some(span);
        self
    }

    /// Marks the text at `span` as wrong as a whole: other diagnostics about it are suppressed.
    #[must_use]
    pub fn covering(mut self, span: Span) -> Self {
        self.covers = (!span.is_none()).then_some(span);
        self
    }

    /// Suppresses the diagnostic if there is an error in the text at `span`.
    #[must_use]
    pub fn provided(mut self, span: Span) -> Self {
        self.premise = (!span.is_none()).then_some(span);
        self
    }

    /// Adds a value that contributed to the problem.
    #[must_use]
    pub fn observing(mut self, expression: impl Into<String>, statement: impl Into<String>) -> Self {
        self.observed.push(Observed { expression: expression.into(), statement: statement.into() });
        self
    }

    /// Sets the function call that failed.
    #[must_use]
    pub fn calling(mut self, call: FunctionCall) -> Self {
        self.call = Some(Box::new(call));
        self
    }

    /// Sets the resource instance.
    #[must_use]
    pub fn about(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// Sets the deprecated object.
    #[must_use]
    pub fn originating(mut self, origin: impl Into<String>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Problems in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Creates an empty collection.
    pub const fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds all of `other`.
    pub fn append(&mut self, other: impl IntoIterator<Item = Diagnostic>) {
        self.list.extend(other);
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of diagnostics.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// All of them, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// All of them for changing: to add an address or a subject that the finder did not know.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.list.iter_mut()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { list: vec![diagnostic] }
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(iter: I) -> Self {
        Self { list: iter.into_iter().collect() }
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, iter: I) {
        self.list.extend(iter);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
