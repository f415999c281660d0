//! Identifiers with source spans.

pub use groma_diagnostics::Name;
use groma_diagnostics::Span;

/// An identifier as written in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The text of the identifier.
    pub name: Name,
    /// The source span of the identifier.
    pub span: Span,
}

impl Ident {
    /// Creates an identifier at `span`.
    pub fn new(name: impl Into<Name>, span: Span) -> Self {
        Self { name: name.into(), span }
    }
}
