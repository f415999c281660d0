//! Names and other short texts of the source.

pub use groma_diagnostics::Name;
use groma_diagnostics::Span;

/// A name as written in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The characters of the name.
    pub name: Name,
    /// The location in the source.
    pub span: Span,
}

impl Ident {
    /// A name at `span`.
    pub fn new(name: impl Into<Name>, span: Span) -> Self {
        Self { name: name.into(), span }
    }
}
