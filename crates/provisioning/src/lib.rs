//! Provisioners: programs that run on this machine, or over ssh on another one, when an object is created or destroyed.
//!
//! This crate defines the arguments of each type and runs provisioners ([`Task`]). The engine evaluates configurations and decides
//! about the order.

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
