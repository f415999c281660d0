//! Command-line arguments as clap parses them. Parsing reads no files; of the environment it only reads `TF_CLI_ARGS`.

mod argv;
mod cloudcontrol;
mod emulator;
mod flags;
mod installation;
mod operation;
mod parse;
mod provider;
mod reading;
mod shared;
mod state;
mod task;
mod workspace;

pub use cloudcontrol::*;
pub use emulator::*;
pub use flags::{Assignment, Deprecations, Flag, Variables};
pub use installation::*;
pub use operation::*;
pub use parse::{Parsed, UsageError, parse};
pub use provider::*;
pub use reading::*;
pub use shared::*;
pub use state::*;
pub use task::{Lazy, Task};
pub use workspace::*;
