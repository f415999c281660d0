//! Provisioners: programs that run on this machine, or over ssh on another one, when an object is created or destroyed.
//!
//! This crate defines the arguments of each type and runs provisioners ([`Task`]). The engine evaluates configurations and decides
//! about the order.

mod arguments;
mod connection;
mod file;
mod local_exec;
mod remote_exec;
mod runner;
mod scp;
mod ssh;
mod task;

pub use runner::{Interruption, Urgency};
pub use task::{InvalidConnection, Kind, Task, connection_schema};

/// An error of a provisioner, as it is reported.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The summary of the error.
    pub summary: &'static str,
    /// The sentences below the summary.
    pub detail: String,
}

impl Failure {
    pub(crate) fn new(summary: &'static str, detail: impl Into<String>) -> Self {
        Self { summary, detail: detail.into() }
    }
}
