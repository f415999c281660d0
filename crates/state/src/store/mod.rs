//! State in a local file: its lock, its journal, its backup, and how a new state gets into it without losing the old.

mod backup;
mod checkpoint;
mod disk;
mod first_look;
mod fold;
pub mod lease;
mod left;
mod local;
mod lock;
mod open;
mod paths;
mod persist;
mod reconcile;
mod remote;
mod sealed;
mod shared_journal;
mod sharing;
mod stored_content;
mod writing;

pub use backup::{ERRORED_STATE, sealed_state, write_errored, write_errored_in_shared};
pub use local::{LocalStore, Opened, Saved};
pub use lock::{LockInfo, LockRequest, Locking};
pub use open::{claim_backup, write_whole};
pub use paths::{Backup, DamagedJournal, StatePaths};
pub use remote::{Access, JournalsAfter, PersistIntervals, RemoteOptions, RemoteState, Replicating, StateObject};
pub use sealed::read_sealed;
pub use sharing::{
    Claimed, LeaveReport, LocalShared, LoggedChange, OutdatedRecord, PlanRecords, PlanVersions, RecordDigests,
    RecordName, RecoveredRun, SharedObject, SharedOptions, SharedRun, SharedRunEntry, SharedState, SharedWait,
    SharingChange, SharingDocument, Versioned, WriteTurn, disable_sharing, enable_sharing, sharing_document,
};

#[cfg(test)]
mod tests;
