//! Renders plans as text.

mod deferred;
mod resource;
mod text;

pub use text::{Generated, PlanText, Reader};
