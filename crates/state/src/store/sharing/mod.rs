//! Shared states: runs that change different records of one state work at the same time.
//!
//! A document beside the state lists the runs and the records that each claims. The ordinary lock, which Terraform and OpenTofu
//! know, is held by all shared runs together. A run merges its records into the stored state: it reads the state with its version,
//! replaces its records, and writes under the condition of that version.

mod document;
mod enabling;
mod errors;
mod folder;
mod local;
mod membership;
mod merge;
mod merging;
mod object;
mod record;
mod run;
mod segments;
mod state;

pub use document::{LoggedChange, SharedRunEntry, SharingDocument};
pub use enabling::{disable_sharing, enable_sharing, sharing_document};
pub use errors::OutdatedRecord;
pub use local::LocalShared;
pub(super) use local::{forget_commit, whole_commit};
pub use object::{SharedObject, SharedWait, Versioned};
pub use record::{PlanRecords, PlanVersions, RecordDigests, RecordName};
pub use run::SharedRun;
pub use state::{Claimed, LeaveReport, RecoveredRun, SharedOptions, SharedState};

#[cfg(test)]
mod tests;
