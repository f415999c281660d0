//! Names and other short texts of the source.

use std::sync::Arc;

use groma_diagnostics::Span;

/// A name or a short text, shared.
pub type Name = Arc<str>;

/// A name as written in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The characters.
    pub name: Name,
    /// Where they are.
    pub span: Span,
}

impl Ident {
    /// A name at `span`.
    pub fn new(name: impl Into<Name>, span: Span) -> Self {
        Self { name: name.into(), span }
    }
}
