//! What was typed: parsed, without looking at any file or variable.

mod argv;
mod assignments;
mod flags;
mod language;
mod model;
mod objects;
mod problem;
mod shared;
mod state;
mod words;
mod workspace;

pub use argv::{Environment, Invocation, invocation};
pub use assignments::{Assignment, Variables};
pub use flags::{Duration, Flag};
pub use language::*;
pub use model::*;
pub use objects::*;
pub use problem::{Parsed, UsageError, parse};
pub use shared::*;
pub use state::*;
pub use workspace::*;
