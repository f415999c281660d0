//! Checking a configuration without state and without values: everything that is not written out is unknown (LC-03).

mod imports;
mod resources;
mod walk;

pub use walk::{DeclaredSecrets, validate};
