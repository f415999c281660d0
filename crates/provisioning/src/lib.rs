//! Provisioners: programs that run on this machine, or over ssh on another one, when an object is created or destroyed.
//!
//! This crate knows the arguments of each type and runs them ([`Task`]). It does not evaluate configurations, and knows
//! neither objects nor the order of a run: the engine does all that, and hands in values.

mod arguments;
mod connection;
mod failure;
mod file;
mod local_exec;
mod remote_exec;
mod runner;
mod scp;
mod ssh;
mod task;

pub use failure::Failure;
pub use runner::{Interruption, Urgency};
pub use task::{InvalidConnection, Kind, Task, connection_schema};
