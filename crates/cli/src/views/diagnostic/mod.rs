//! Renders diagnostics as text and as JSON.

mod consolidate;
mod enclosing;
mod json;
mod snippet;
mod text;

pub use consolidate::{Alike, Consolidated, Consolidation, consolidated, in_order};
pub use json::diagnostic_json;
pub use snippet::{Location, Snippet};
pub use text::DiagnosticText;
