//! Renders plans as text.

mod deferred;
mod drift;
mod heading;
mod invocations;
mod outputs;
mod resource;
mod summary;
mod text;

pub use text::{Generated, PlanText, Reader};
