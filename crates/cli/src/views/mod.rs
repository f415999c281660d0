//! Rendering for people and programs. Views access no files, no environment and no engine calls: data in, text out.

pub mod diagnostic;
pub mod difference;
pub mod document;
pub mod json;
pub mod plan;
pub mod progress;
pub mod query;
pub mod secrecy;
pub mod state;
pub mod wording;
