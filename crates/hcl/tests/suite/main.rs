//! Tests in the language of the user: texts, and what becomes of them.

#![allow(clippy::unwrap_used, reason = "what a test does not expect may fail it")]

mod bodies;
mod encodings;
mod expressions;
mod formatting;
mod json;
mod laws;
mod limits;
mod mistakes;
mod show;
mod static_forms;
mod templates;
mod terraform;
mod tokens;
mod ugly;
