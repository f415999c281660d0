//! The journal: a file next to the state file with the calls and results of a run, until the state file has them.
//!
//! A record is with the operating system before the step after it is taken, so a killed process loses none. It reaches
//! the disk a moment later, many records at once: see [`Journal::sync`].

mod codec;
mod form;
mod frame;
mod numbered;
mod read;
mod record;
mod sealing;
mod syncing;
mod writer;

pub(crate) use read::Damage;
pub(crate) use read::Follower;
pub(crate) use read::{Event, Recovered, Snapshot, recover};
pub use record::{Begin, CreateRequest, Operation, Outcome};
pub(crate) use record::{Finished, ObjectAddress, RunHeader};
pub(crate) use sealing::{Seal, Tail, failed, unseal};
pub use writer::Journal;

/// The first bytes of a journal, with its format version.
const MAGIC: &[u8] = b"groma journal 2\n";

#[cfg(test)]
mod tests;
