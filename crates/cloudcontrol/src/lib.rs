//! The AWS Cloud Control provider, its API and the emulator.

pub mod api;
pub mod emulator;
pub mod names;
mod provider;
pub mod schema;

pub use provider::{AwsCloudControl, EMULATOR_FILE};

/// An identifier; cheap to clone.
pub type Name = std::sync::Arc<str>;
