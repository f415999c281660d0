//! State in a local file: its lock, its journal, its backup, and how a new state gets into it without losing the old.

mod difference;
mod disk;
mod errored;
mod first_look;
mod fold;
mod left;
mod local;
mod lock;
mod open;
mod paths;
mod reconcile;
mod sealed;
mod time;
mod writing;

pub use errored::{ERRORED_STATE, write_errored};
pub use local::{LocalStore, Opened, Saved};
pub use lock::{LockInfo, LockRequest, Locking};
pub use open::write_whole;
pub use paths::StatePaths;
pub use sealed::read_sealed;

#[cfg(test)]
mod tests;
