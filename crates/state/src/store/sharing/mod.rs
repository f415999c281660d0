//! Shared states: runs that change different records of one state work at the same time.
//!
//! A document next to the state lists the runs and the records that each claims. The ordinary lock, which Terraform and OpenTofu
//! know, is held by all shared runs together. A run merges its records into the stored state: it reads the state with its version,
//! replaces its records, and writes under the condition of that version.

mod contention;
mod document;
mod enabling;
mod errors;
mod folder;
mod local;
mod membership;
mod merge;
mod merging_object;
mod object;
mod record;
mod renewal;
mod run;
mod segments;
mod state;
mod stored_document;
mod turn;
mod unanswered;

pub use document::{LoggedChange, SharedRunEntry, SharingDocument};
pub use enabling::{SharingChange, disable_sharing, enable_sharing, sharing_document};
pub use local::LocalShared;
pub(super) use local::{forget_commit, whole_commit};
pub use object::{SharedObject, SharedWait, Versioned};
pub use record::{OutdatedRecord, PlanRecords, PlanVersions, RecordDigests, RecordName};
pub use run::SharedRun;
pub use state::{Claimed, LeaveReport, RecoveredRun, SharedOptions, SharedState};
pub use turn::WriteTurn;

#[cfg(test)]
mod tests;
