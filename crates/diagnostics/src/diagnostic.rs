//! Errors and warnings, with the source text and values that a reader needs to fix them.

use std::fmt;

use groma_address::{ActionInstance, ConfigResource, DeprecationOrigin, ProviderConfig, ResourceInstance};

use crate::span::Span;

/// Severity of a diagnostic; errors sort before warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The operation cannot continue, or its result cannot be trusted.
    Error,
    /// The operation continues.
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
    /// A backend type that does not exist, or that this program does not support.
    UnsupportedBackend,
    /// A block of a type that its file does not allow.
    UnexpectedBlock,
    /// A provider that does not start or that violates the plugin protocol's contract.
    ProviderFault,
    /// A value was set for a deprecated variable.
    DeprecatedVariable,
}

/// The relations of a diagnostic to diagnostics about other text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cascade {
    /// The range in which this mistake makes all other diagnostics redundant.
    pub suppresses: Option<Span>,
    /// The text that this diagnostic assumes to be correct. An error there makes this one moot.
    pub depends_on: Option<Span>,
}

/// An error or a warning for the user, with everything that is needed to print it.
///
/// It owns the text (summary and detail) and refers to source text by [`Span`] only, so that any crate can create one
/// without access to files. Lines, columns and snippets are resolved by the printer with [`Sources`](crate::Sources).
///
/// Guarantees: the summary is one line, and Terraform's own where Terraform has one, because people search for it. The
/// detail states where and with which values the problem occurs and what to do about it. Neither contains a sensitive
/// value: the creator redacts.
///
/// A diagnostic does not decide anything: code that reacts to a failure uses typed errors and never compares
/// summaries. It does not stop the operation either; the caller checks [`Diagnostics::has_errors`].
///
/// Build one with [`Diagnostic::error`] or [`Diagnostic::warning`] and add locations with the chained methods:
/// `Diagnostic::error("Invalid index", detail).at(span).within(block)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether this is an error or a warning.
    pub severity: Severity,
    /// What it is, where code decides on it.
    pub kind: DiagnosticKind,
    /// One line that people search for, without a full stop.
    pub summary: String,
    /// Complete sentences: what happened and what to do. May have several paragraphs.
    pub detail: String,
    /// The source text at fault.
    pub subject: Option<Span>,
    /// The text that a reader needs to see around the subject: the whole block or argument.
    pub context: Option<Span>,
    /// Relations to diagnostics about other text.
    pub cascade: Option<Box<Cascade>>,
    /// Values and signatures that explain a failed evaluation.
    pub evidence: Option<Box<Evidence>>,
    /// The affected object, printed as `with ADDRESS`.
    pub address: Option<Box<DiagnosticAddress>>,
    /// The deprecated item whose use is reported, for deprecation warnings.
    pub origin: Option<Box<DeprecationOrigin>>,
}

impl Diagnostic {
    /// Creates an error without a location.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary.into(), detail.into())
    }

    /// Creates a warning without a location.
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
            cascade: None,
            evidence: None,
            address: None,
            origin: None,
        }
    }

    /// Whether both have the same summary and detail, which is how repeated reports of one problem are recognized.
    pub fn has_same_text(&self, other: &Self) -> bool {
        (&self.summary, &self.detail) == (&other.summary, &other.detail)
    }

    /// Sets the kind.
    #[must_use]
    pub fn of_kind(mut self, kind: DiagnosticKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the subject: the source text at fault. [`Span::NONE`] clears it.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.subject = (!span.is_none()).then_some(span);
        self
    }

    /// Sets the context: the surrounding text that the snippet shows.
    #[must_use]
    pub fn within(mut self, span: Span) -> Self {
        self.context = (!span.is_none()).then_some(span);
        self
    }

    /// Makes every other diagnostic about the text at `span` redundant; see [`CascadeFilter`](crate::CascadeFilter).
    #[must_use]
    pub fn suppressing(mut self, span: Span) -> Self {
        self.cascade.get_or_insert_default().suppresses = (!span.is_none()).then_some(span);
        self
    }

    /// Makes this diagnostic moot if there is an error in the text at `span`; see
    /// [`CascadeFilter`](crate::CascadeFilter).
    #[must_use]
    pub fn depending_on(mut self, span: Span) -> Self {
        self.cascade.get_or_insert_default().depends_on = (!span.is_none()).then_some(span);
        self
    }

    /// Adds an expression with its value to the output: `var.x` and `is 5`.
    #[must_use]
    pub fn observing(mut self, expression: impl Into<String>, statement: impl Into<String>) -> Self {
        self.evidence
            .get_or_insert_default()
            .observed
            .push(Observed { expression: expression.into(), statement: statement.into() });
        self
    }

    /// Attaches the signature of the function whose call failed.
    #[must_use]
    pub fn calling(mut self, call: FunctionCall) -> Self {
        self.evidence.get_or_insert_default().call = Some(call);
        self
    }

    /// Sets the address of the affected object.
    #[must_use]
    pub fn about(mut self, address: impl Into<DiagnosticAddress>) -> Self {
        self.address = Some(Box::new(address.into()));
        self
    }

    /// Names the deprecated item whose use is reported.
    #[must_use]
    pub fn originating(mut self, origin: DeprecationOrigin) -> Self {
        self.origin = Some(Box::new(origin));
        self
    }

    /// Returns the values of the expressions at fault, already redacted.
    pub fn observed(&self) -> &[Observed] {
        self.evidence.as_ref().map_or(&[], |evidence| &evidence.observed)
    }

    /// Returns the signature of the function whose call failed.
    pub fn call(&self) -> Option<&FunctionCall> {
        self.evidence.as_ref()?.call.as_ref()
    }

    /// Whether the severity is [`Severity::Error`].
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Errors and warnings in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// Adds a diagnostic at the end.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds all diagnostics of `other` at the end.
    pub fn append(&mut self, other: impl IntoIterator<Item = Diagnostic>) {
        self.list.extend(other);
    }

    /// Whether at least one diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }

    /// Whether the list contains neither errors nor warnings.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of diagnostics, warnings included.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Iterates over the diagnostics in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Iterates mutably, to add an address or a subject that the code reporting the problem did not know.
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

/// The values and the function call behind a failed evaluation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Values of the expressions at fault, already redacted.
    pub observed: Vec<Observed>,
    /// Signature of the function whose call failed.
    pub call: Option<FunctionCall>,
}

/// An expression of the failing text with its value, shown to the reader: `var.name` and `is "x"`.
///
/// The creator has already redacted sensitive values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observed {
    /// The expression as written in the source.
    pub expression: String,
    /// The predicate of the sentence: `is "x"`, `is a list of string`, `has a sensitive value`.
    pub statement: String,
}

/// Signature of the function whose call failed, for the JSON form of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionCall {
    /// Name as written in the call, including the namespace: `upper`, `core::max`, `provider::time::rfc3339_parse`.
    pub called_as: String,
    /// Positional parameters in order.
    pub parameters: Vec<FunctionParameter>,
    /// Parameter that accepts all further arguments.
    pub variadic: Option<FunctionParameter>,
    /// Result type in JSON type syntax: `"string"`, `["list","string"]`.
    pub result: String,
}

/// A parameter of a [`FunctionCall`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionParameter {
    /// Name from the function's signature.
    pub name: String,
    /// Type in JSON type syntax.
    pub ty: String,
}

/// The address of the object that a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DiagnosticAddress {
    /// A resource instance.
    Resource(ResourceInstance),
    /// A resource whose instance keys are not evaluated yet.
    ConfigResource(ConfigResource),
    /// An instance of an action.
    Action(ActionInstance),
    /// A provider configuration.
    Provider(ProviderConfig),
}

impl fmt::Display for DiagnosticAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource(address) => address.fmt(f),
            Self::ConfigResource(address) => address.fmt(f),
            Self::Action(address) => address.fmt(f),
            Self::Provider(address) => address.fmt(f),
        }
    }
}

impl From<&ResourceInstance> for DiagnosticAddress {
    fn from(address: &ResourceInstance) -> Self {
        Self::Resource(address.clone())
    }
}

impl From<&ConfigResource> for DiagnosticAddress {
    fn from(address: &ConfigResource) -> Self {
        Self::ConfigResource(address.clone())
    }
}

impl From<&ActionInstance> for DiagnosticAddress {
    fn from(address: &ActionInstance) -> Self {
        Self::Action(address.clone())
    }
}

impl From<&ProviderConfig> for DiagnosticAddress {
    fn from(address: &ProviderConfig) -> Self {
        Self::Provider(address.clone())
    }
}
