//! Rendering of results as text and JSON. Views are pure: they access no files, no environment and no engine.

pub mod diagnostic;
pub mod difference;
pub mod document;
pub mod json;
pub mod plan;
pub mod progress;
pub mod query;
pub mod redaction;
pub mod state;
pub mod wording;
