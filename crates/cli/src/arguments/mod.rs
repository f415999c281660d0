//! What was typed: parsed, without looking at any file or variable.

mod argv;
mod assignments;
mod flags;
mod model;
mod problem;
mod words;

pub use argv::{Environment, Invocation, invocation};
pub use assignments::{Assignment, Variables};
pub use flags::{Duration, Flag};
pub use model::*;
pub use problem::{Parsed, UsageError, parse};
