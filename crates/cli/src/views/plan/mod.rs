//! Renders plans as text.

mod deferred;
mod resource;
mod summary;
mod text;

pub use text::{Generated, PlanText, Reader};
