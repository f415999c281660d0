//! Renders diagnostics as text and as JSON.

mod consolidate;
mod enclosing;
mod json;
mod json_path;
mod order;
mod snippet;
mod text;

pub use consolidate::{Alike, Consolidated, Consolidation, consolidated};
pub use json::diagnostic_json;
pub use order::in_order;
pub use snippet::{Location, Snippet};
pub use text::DiagnosticText;
