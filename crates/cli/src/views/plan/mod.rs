//! Renders plans as text.

mod deferred;
mod patches;
mod resource;
mod text;

pub use patches::PlanPatches;
pub use text::{Generated, PlanText, Reader};
