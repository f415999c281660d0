//! The state manager: everything that is the same for all stores, written once above [`crate::StateStore`].
//!
//! Commands are synchronous, so that the manager blocks on the requests of a store. Its runtime has a thread of its own,
//! on which stores renew sessions and drive connections while the command computes.

mod backend;
mod clock;
mod guard;
mod keeper;
mod object;
mod open;
mod reading;
mod retry;
mod runtime;
mod segments;
mod shared;

pub use backend::{ConnectError, RemoteBackend};
pub use guard::{LockGuard, ReleaseReport, Waiting};
pub use open::{OpenOptions, OpenedRemote, RemoteHandle, persist_intervals};

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
