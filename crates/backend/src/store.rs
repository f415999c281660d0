//! The trait that every remote store implements.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

use crate::error::StoreError;
use crate::lock_info::LockInfo;

pub use groma_state::{JournalsAfter, SegmentCreated};

/// The workspace that always exists.
pub const DEFAULT_WORKSPACE: &str = "default";

/// The pending result of a store operation.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The advice on restoring a damaged object of an object store.
pub(crate) const RESTORE_OBJECT: &str =
    "Restore an earlier version of the object, if the bucket or container keeps versions.";

/// A store of states: one object for each workspace, with its lock.
///
/// A store translates these operations into the requests of one service, with the object names, metadata and lock
/// records that Terraform and OpenTofu use, so that all programs see each other's states and locks.
///
/// What a store guarantees:
/// - [`StateStore::read`] returns the latest complete write, or `None` without one. It never creates anything.
/// - [`StateStore::write`] with [`Expected::Version`] or [`Expected::Absent`] replaces the object only if nobody else
///   has written since, and returns [`StoreError::Conflict`] otherwise. A service without conditional writes is read
///   again immediately before the write.
/// - [`StateStore::lock`] tries once and does not wait. [`StoreError::Locked`] carries the holder's info.
///
/// What a store does not do: it neither parses nor seals states, and it does not wait for locks. It may repeat requests
/// after network failures as its service documents. Operations of different workspaces may overlap.
pub trait StateStore: Send + Sync {
    /// Returns the location of a workspace's state for messages: `s3://bucket/key`, for example. Never contains secrets.
    fn location(&self, workspace: &str) -> String;

    /// Returns the sentence about restoring an earlier version of a damaged state. The default is that of object storage.
    fn restore_advice(&self) -> &'static str {
        RESTORE_OBJECT
    }

    /// Whether the store has workspaces besides `default`.
    fn workspace_support(&self) -> WorkspaceSupport {
        WorkspaceSupport::Many
    }

    /// Whether [`StateStore::lock`] excludes other runs. Stores without a configured lock return false, and their
    /// `lock` is never called.
    fn can_lock(&self) -> bool {
        true
    }

    /// Lists the workspaces with a stored state, `default` included if it has one, in no particular order.
    fn workspaces(&self) -> StoreFuture<'_, Vec<String>>;

    /// Reads the state of a workspace; `None` if nothing is stored. An empty object is returned as it is, because its
    /// version matters for the next write.
    fn read<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>>;

    /// Replaces the state of a workspace, and returns the new version.
    fn write<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version>;

    /// Deletes the state of a workspace. `lock` is the lock of the caller, which the store removes too if it would
    /// otherwise outlive the state. A missing state is not an error.
    fn delete_workspace<'a>(&'a self, workspace: &'a str, lock: Option<&'a HeldLock>) -> StoreFuture<'a, ()>;

    /// Takes the lock of a workspace, in one attempt.
    fn lock<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock>;

    /// Releases the lock with this ID: that of a [`HeldLock`], or one that the user passes to `force-unlock`.
    ///
    /// Returns [`StoreError::LockIdMismatch`] if the lock has another ID, and [`StoreError::NotLocked`] if the state is not locked.
    fn unlock<'a>(&'a self, workspace: &'a str, id: &'a str) -> StoreFuture<'a, ()>;

    /// Returns the operation on locks with a deadline; `None` if the store cannot replace a lock under a condition, or if
    /// its locks end with the session that holds them.
    fn leases(&self) -> Option<&dyn LeaseStore> {
        None
    }

    /// Returns the journals that the store keeps next to its states; `None` if it cannot keep any.
    fn journals(&self) -> Option<&dyn JournalStore> {
        None
    }

    /// Returns the documents of states that runs share; `None` if the store cannot replace one under a condition.
    fn sharing(&self) -> Option<&dyn SharingStore> {
        None
    }
}

/// Locks whose records can be replaced under a condition: so a run renews its deadline, and takes over a lock that has
/// ended.
pub trait LeaseStore: Send + Sync {
    /// Replaces the record of a lock by one with `info`, if the stored record is still `stored`.
    ///
    /// Returns [`StoreError::LockLost`] if another record is stored, or none. Repeating a replacement whose answer was lost
    /// succeeds.
    fn replace_lock<'a>(
        &'a self,
        workspace: &'a str,
        stored: &'a HeldLock,
        info: &'a LockInfo,
    ) -> StoreFuture<'a, HeldLock>;
}

/// The documents of shared states: one for each workspace, which lists the runs of the state. Terraform and OpenTofu ignore it.
pub trait SharingStore: Send + Sync {
    /// Reads the document of a workspace; `None` without one.
    fn read_sharing<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>>;

    /// Replaces the document of a workspace under the condition of the write, and returns the new version.
    ///
    /// Returns [`StoreError::Conflict`] if another version is stored.
    fn write_sharing<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version>;

    /// Returns the locks that several sessions can hold at once; `None` if runs hold one lock record together, which each of them
    /// renews through [`StateStore::leases`].
    fn shared_locks(&self) -> Option<&dyn SharedLockStore> {
        None
    }
}

/// Locks that any number of shared runs hold at once, and that exclude the lock of all other programs.
pub trait SharedLockStore: Send + Sync {
    /// Takes the lock in one attempt, or renews it if this process holds it already.
    fn lock_shared<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock>;

    /// Whether each session has a lock of its own, which ends whatever the others do.
    fn has_lock_of_session(&self) -> bool {
        false
    }

    /// Ends the part of this process in the lock, which the others keep.
    fn unlock_shared<'a>(&'a self, workspace: &'a str, held: &'a HeldLock, leaving: Leaving) -> StoreFuture<'a, ()>;
}

/// The runs that hold a shared lock after this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// Other runs go on.
    Others,
    /// There are none.
    Last,
}

/// Journals next to the states of a store, in segments that are created once and never changed.
///
/// A segment is named `RUN/NUMBER`. Terraform and OpenTofu ignore its object. The contents are opaque to the store: they are
/// sealed if the state is. Number 0 is a note that the journal was merged, which outlives it.
pub trait JournalStore: Send + Sync {
    /// Lists the names of all segments of a workspace, in no particular order.
    fn segments<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Vec<String>>;

    /// Reads a segment; `None` if it does not exist.
    fn read_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>>;

    /// Creates a segment, unless there is one of this name, whatever its content is.
    fn create_segment<'a>(
        &'a self,
        workspace: &'a str,
        name: &'a str,
        bytes: &'a [u8],
    ) -> StoreFuture<'a, SegmentCreated>;

    /// Deletes segments. A missing one is not an error.
    ///
    /// The first segment of a journal is deleted before its others. So a deletion that ends early leaves whole journals, or
    /// journals without their first segment, which readers ignore.
    fn delete_segments<'a>(&'a self, workspace: &'a str, names: &'a [String]) -> StoreFuture<'a, ()>;

    /// Returns the states with notes in their metadata; `None` if the store keeps no such notes.
    fn noted_states(&self) -> Option<&dyn NotedStateStore> {
        None
    }

    /// Returns the largest number of bytes in a segment.
    fn longest_segment(&self) -> usize {
        4 << 20
    }
}

/// States whose metadata says whether there is anything of ours next to them, so that a run need not look for it.
///
/// The note "closed" says that no journal is open and that runs do not share the state. Only a run that holds the lock alone and
/// knows both writes it. Other writes, and those of Terraform and OpenTofu, remove it.
pub trait NotedStateStore: Send + Sync {
    /// Reads the state of a workspace with its note; `None` if nothing is stored.
    fn read_noted<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<NotedState>>;

    /// Lists what is stored next to the state of a workspace, with the version that the state has at the same time.
    fn companions<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Companions>;
}

/// A stored state with its note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedState {
    /// The state.
    pub snapshot: Snapshot,
    /// [`JournalsAfter::Closed`] if the note says that no journal is open and that runs do not share the state.
    pub journals: JournalsAfter,
}

/// The objects that accompany a stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Companions {
    /// The version of the state; `None` if nothing is stored.
    pub version: Option<Version>,
    /// The names of the segments of its journals.
    pub segments: Vec<String>,
    /// Whether there is a sharing document. It may say that runs no longer share the state.
    pub has_sharing: bool,
}

/// The name of a state's sharing document, next to its object.
pub(crate) fn sharing_object(object: &str) -> String {
    format!("{object}.groma-sharing")
}

/// The workspaces that a store can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceSupport {
    /// Any number of workspaces, and always `default`.
    Many,
    /// Any number of workspaces, but none named `default`.
    ManyWithoutDefault,
    /// The store has only the workspace `default`.
    DefaultOnly,
    /// The store has only the workspace with this name.
    Only(String),
}

/// A stored state with its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The bytes as they are stored: JSON, or an encryption envelope.
    pub bytes: Vec<u8>,
    /// The version of the object.
    pub version: Version,
}

/// The version of a stored object, in the store's own terms: an ETag, a generation, an index, a digest of the content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub String);

/// The stored version that a write replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The write replaces any stored version.
    Any,
    /// Nothing is stored yet.
    Absent,
    /// The write replaces only this version.
    Version(Version),
}

/// A state to write.
#[derive(Clone, Debug)]
pub struct Write<'a> {
    /// The bytes to store. Requests share their memory.
    pub bytes: &'a Bytes,
    /// The condition of the write.
    pub expected: Expected,
    /// The caller's lock, which some services require with each write.
    pub lock: Option<&'a HeldLock>,
    /// Whether the state has everything in its journals then.
    pub journals: JournalsAfter,
}

/// A lock that this process holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLock {
    /// The ID that releases the lock, which the service may have chosen: a generation, a session, a digest.
    pub id: String,
    /// The info as it was stored.
    pub info: LockInfo,
}
