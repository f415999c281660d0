//! Versions and version constraints of `required_version`, `required_providers` and module calls.

mod constraint;
mod number;

pub use constraint::{Constraint, Constraints, Operator};
pub use number::{Version, VersionError};
