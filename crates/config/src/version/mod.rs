//! Versions and version constraints, as `required_version` and `required_providers` write them.

mod constraint;
mod number;

pub use constraint::{Constraint, Constraints, Operator};
pub use number::{Version, VersionError};
