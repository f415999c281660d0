//! Source files, spans and the one diagnostic type.
//!
//! Every text that the program reads is registered in a [`Sources`]; a [`Span`] is an eight-byte range in its single
//! address space, so that any crate can point at text without knowing files, lines or columns. Lines and columns are
//! computed only for printing. This crate knows nothing about the language, values or terminals.

mod cascade;
mod diagnostic;
mod graphemes;
mod reason;
mod sources;
mod span;
mod suggest;

pub use crate::diagnostic::DiagnosticAddress;
pub use crate::diagnostic::{Evidence, FunctionCall, FunctionParameter, Observed};
pub use crate::sources::{Decoded, InvalidByte};
pub use cascade::CascadeFilter;
pub use diagnostic::{Cascade, Diagnostic, DiagnosticKind, Diagnostics, Severity};
pub use graphemes::{grapheme_count, graphemes};
pub use groma_address::{
    DeprecationOrigin, Name, begins_name, continues_name, quoted, write_literal, write_literal_content, write_quoted,
};
pub use reason::{capitalized, io_reason, json_reason};
pub use sources::{Label, Location, Position, Section, SourceFile, SourceText, Sources};
pub use span::{Span, Spanned};
pub use suggest::{did_you_mean, suggest};
