//! Source files, spans and the one diagnostic type.
//!
//! Every text that the program reads is registered in a [`Sources`]; a [`Span`] is eight bytes into its single address
//! space, so that any crate can point at text without knowing files, lines or columns. Lines and columns exist only
//! when something is printed. This crate knows nothing of the language, of values or of terminals.

mod clusters;
mod consequences;
mod diagnostic;
mod encoding;
mod name;
mod quote;
mod reason;
mod sources;
mod span;
mod suggest;

pub use clusters::{cluster_count, clusters};
pub use consequences::Consequences;
pub use diagnostic::{Diagnostic, DiagnosticKind, Diagnostics, FunctionCall, FunctionParameter, Observed, Severity};
pub use encoding::{Decoded, InvalidByte};
pub use name::{Name, begins_name, continues_name};
pub use quote::{quoted, write_literal, write_literal_content, write_quoted};
pub use reason::{capitalized, io_reason, json_reason};
pub use sources::{Label, Location, Position, Section, SourceFile, SourceText, Sources};
pub use span::{Span, Spanned};
pub use suggest::{did_you_mean, suggest};
