//! The journal: a file next to the state file with the calls and results of a run, until the state file has them.
//!
//! A record is with the operating system before the step after it is taken, so a killed process loses none. It reaches
//! the disk a moment later, many records at once: see [`Journal::sync`].

mod codec;
mod form;
mod frame;
mod merged;
mod numbered;
mod read;
mod record;
mod replication;
mod sealing;
mod segments;
mod sent;
mod syncing;
mod writer;

pub use merged::whole_merge_note;
pub(crate) use merged::{MergedJournals, merged_length};
pub(crate) use read::Damage;
pub(crate) use read::Follower;
#[cfg(test)]
pub(crate) use read::recover;
pub(crate) use read::{Event, Recovered, Snapshot, recover_after};
pub use record::{Begin, CreateRequest, Operation, Outcome};
pub(crate) use record::{Finished, ObjectAddress, RunHeader};
pub use replication::Durable;
pub(crate) use replication::{Progress, Replication, Sender};
pub(crate) use sealing::{Seal, Tail, failed, unseal};
pub(crate) use segments::CLOSED;
pub use segments::{SegmentCreated, SegmentId, SegmentStore};
pub(crate) use sent::{Copied, SentNote};
pub use writer::Journal;

/// The first bytes of a journal, with its format version.
const MAGIC: &[u8] = b"groma journal 2\n";

#[cfg(test)]
mod tests;
