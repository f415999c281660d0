//! The AWS Cloud Control provider, its API and the emulator.

pub mod api;
pub mod emulator;
pub mod names;
pub mod schema;

/// An identifier; cheap to clone.
pub type Name = std::sync::Arc<str>;
