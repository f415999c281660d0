//! The rules of the provider contract, checked on returned objects (plugin-protocol 4, LC-32).
//!
//! The checks take values without marks and return [`Violation`]s without judging them: [`Checked`](crate::Checked)
//! decides which violations are errors, under which summary, and which providers are exempt.

mod compatible;
mod planned;
mod shape;
mod violation;

pub use compatible::check_compatible;
pub use planned::check_planned;
pub use shape::normalize_legacy;
pub use shape::{check_object, check_shape, check_unknowns, check_write_only, without_write_only};
pub use violation::{Problem, Secrets, Violation};
#[cfg(test)]
mod tests;
