//! A plan for people.

mod drift;
mod heading;
mod outputs;
mod resource;
mod summary;
mod text;

pub use text::{PlanText, Reader};
