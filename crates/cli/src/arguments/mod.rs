//! What was typed: parsed, without looking at any file or variable.

mod argv;
mod flags;
mod model;
mod problem;
mod words;

pub use argv::{Environment, Invocation, invocation};
pub use flags::{Duration, Flag};
pub use model::*;
pub use problem::{Parsed, UsageError, parse};
