//! What was typed: parsed, without looking at any file or variable.

mod argv;
mod assignments;
mod emulator;
mod flags;
mod installation;
mod language;
mod objects;
mod operation;
mod parse;
mod reading;
mod shared;
mod state;
mod task;
mod usage;
mod words;
mod workspace;

pub use argv::{Environment, Invocation, invocation};
pub use assignments::{Assignment, Variables};
pub use emulator::*;
pub use flags::{Duration, Flag};
pub use installation::*;
pub use language::*;
pub use objects::*;
pub use operation::*;
pub use parse::{Parsed, parse};
pub use reading::*;
pub use shared::*;
pub use state::*;
pub use task::{Arguments, Task, command};
pub use usage::UsageError;
pub use workspace::*;
