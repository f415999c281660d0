//! Diagnostics as text for people and as JSON for programs.

mod consolidate;
mod enclosing;
mod json;
mod json_way;
mod order;
mod snippet;
mod text;

pub use consolidate::{Alike, Consolidated, Consolidation, consolidated};
pub use json::diagnostic_json;
pub use order::in_order;
pub use snippet::{Place, Snippet};
pub use text::DiagnosticText;
