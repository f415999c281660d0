//! The AWS Cloud Control provider, its API and the emulator.

pub mod api;
pub mod emulator;
pub mod names;
mod pause;
pub mod policy;
mod provider;
pub mod schema;

pub use groma_provider::Name;
pub use provider::{AwsCloudControl, EMULATOR_FILE, Patches, PlannedPatch, PlannedUpdate};
