//! Argument schemas of backends: types, defaults, environment variables, and the hash by which Terraform and OpenTofu recognize an
//! unchanged block.

mod argument;
mod conform;
mod hash;
mod settings;

pub use argument::{Argument, ArgumentKind, BackendSchema, Nesting, Product};
pub use conform::ArgumentError;
pub use hash::record_hash;
pub use settings::{Origin, Settings};
