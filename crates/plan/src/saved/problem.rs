//! Errors of writing and reading plans.

use std::error::Error;

use groma_diagnostics::{Diagnostic, Diagnostics};

/// A bug of ours: a value that does not fit its type.
pub(super) type Unwritable = Box<dyn Error>;

/// Returns the error for bytes that are not a plan.
pub(super) fn not_a_plan(why: &str) -> Diagnostics {
    let detail = format!("The plan in the file cannot be used: {why}. Create a new plan.");
    Diagnostic::error("Failed to read plan file", detail).into()
}

pub(super) fn damaged() -> Diagnostics {
    not_a_plan("it is damaged")
}
