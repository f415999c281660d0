//! The rules that providers must keep, checked on the objects they return (plugin-protocol 4, LC-32).
//!
//! The checks work on values without marks. They find [`Violation`]s and judge nothing: which of them are errors, under
//! which summary, and who is exempt, is decided by [`Checked`](crate::Checked).

mod compatible;
mod legacy;
mod planned;
mod shape;
mod violation;

pub use compatible::check_compatible;
pub use legacy::normalize_legacy;
pub use planned::check_planned;
pub use shape::{check_object, check_shape, check_unknowns, check_write_only, without_write_only};
pub use violation::{Problem, Secrets, Violation};
#[cfg(test)]
mod tests;
