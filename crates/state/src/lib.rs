//! State and plan files, the journal, locks and backups.
//!
//! [`State`] has a record for each managed instance. Attributes stay JSON text, because decoding them requires a
//! provider schema. [`file`] writes Terraform's state format version 4, and reads that and older ones.

mod content;
mod dependencies;
mod error;
pub mod file;
mod journal;
mod json;
mod model;
mod object;
pub mod plan_file;
mod random;
mod storage;
pub mod store;
mod window;

pub use dependencies::{AddressTable, Dependencies, OrderedAddresses, text_order};
pub use error::{StateError, StateErrorKind};
pub use journal::{
    Begin, CreateRequest, Durable, Journal, Operation, Outcome, SegmentCreated, SegmentId, SegmentStore,
    whole_merge_note,
};
pub use model::{
    CheckResult, CheckStatus, CheckedObject, InstanceRecord, InstanceView, OutputValue, ResourceEntry, State,
};
pub use object::{AttributesJson, DeposedKey, Fingerprint, ForeignKeys, Identity, ObjectRecord, ObjectStatus};
pub use random::{random_bits, seed_random};
pub use store::lease;
pub use store::{
    Access, Backup, Claimed, DamagedJournal, ERRORED_STATE, JournalsAfter, LeaveReport, LocalShared, LocalStore,
    LockInfo, LockRequest, Locking, LoggedChange, Opened, OutdatedRecord, PersistIntervals, PlanRecords, PlanVersions,
    RecordDigests, RecordName, RecoveredRun, RemoteOptions, RemoteState, Replicating, Saved, SharedObject,
    SharedOptions, SharedRun, SharedRunEntry, SharedState, SharedWait, SharingChange, SharingDocument, StateObject,
    StatePaths, Versioned, WriteTurn, claim_backup, disable_sharing, enable_sharing, read_sealed, sealed_state,
    sharing_document, write_errored, write_errored_in_shared, write_whole,
};
