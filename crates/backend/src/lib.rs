//! Remote state backends: the store trait, argument schemas, the stores, and the state manager above them.
//!
//! [`StateStore`] is the seam. A store knows object names, lock records and requests of one service, and nothing else.
//! Everything that is the same for all stores is written once above the trait: serials and lineages, migration,
//! encryption, retries, waiting for locks. [`registry`] maps a backend type to its argument schema and its constructor.
//!
//! The local backend is not here: its state files need no requests, and `groma_state::LocalStore` works on them without
//! an async runtime.

mod backend_type;
mod error;
mod host;
mod lock_info;
mod manager;
pub mod registry;
mod schema;
mod store;
mod stores;

pub use backend_type::BackendType;
pub use error::StoreError;
pub use host::{Environment, Host, HostTokens, Tokens};
pub use lock_info::{LockInfo, go_time, new_lock, now_rfc3339};
pub use manager::{
    ConnectError, LockGuard, OpenOptions, OpenedRemote, ReleaseReport, RemoteBackend, RemoteHandle, Waiting,
    persist_intervals,
};
pub use schema::{
    Argument, ArgumentError, ArgumentKind, BackendSchema, Nesting, Origin, Product, Settings, record_hash,
};
pub use store::{
    Companions, DEFAULT_WORKSPACE, Expected, HeldLock, JournalStore, JournalsAfter, LeaseStore, Leaving, NotedState,
    NotedStateStore, SegmentCreated, SharedLockStore, SharingStore, Snapshot, StateStore, StoreFuture, Version,
    WorkspaceSupport, Write,
};
