//! The stored objects of a shared state.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::turn::WriteTurn;
use crate::error::StateError;
use crate::journal::SegmentStore;
use crate::store::lock::LockInfo;

/// Stored bytes with their version, in the store's own terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// The bytes as they are stored.
    pub bytes: Bytes,
    /// The version, which differs after every write.
    pub version: String,
}

/// One state with its sharing document, in a store that several runs write at the same time.
///
/// Guarantees that a conditional write replaces exactly the version that it names, or fails with
/// [`crate::StateErrorKind::Changed`] and writes nothing, and that reads return the latest complete write. It repeats requests after
/// failures of the network, and recognizes its own write then.
///
/// The ordinary lock of the state is held by all shared runs together, in the form that Terraform and OpenTofu know. It keeps those
/// off; the runs among themselves are kept apart by the claims in the document.
pub trait SharedObject: Send + Sync {
    /// Returns the location for messages, without secrets.
    fn location(&self) -> String;

    /// Checks that runs on this system can share the state.
    ///
    /// # Errors
    /// They cannot; the error says why.
    fn check_support(&self) -> Result<(), StateError> {
        Ok(())
    }

    /// Returns the sentence about restoring an earlier version of a damaged state; `None` for that about a file.
    fn restore_advice(&self) -> Option<&'static str> {
        None
    }

    /// Reads the state; `None` without one.
    ///
    /// # Errors
    /// The service fails or refuses the access.
    fn read_state(&self) -> Result<Option<Versioned>, StateError>;

    /// Waits until no other run writes the state, where runs can wait for each other; `None` elsewhere.
    fn write_turn(&self) -> Option<WriteTurn> {
        None
    }

    /// Replaces this version of the state, and returns the new version.
    ///
    /// # Errors
    /// [`crate::StateErrorKind::Changed`] if another version is stored, and any failure of the service.
    fn write_state(&self, bytes: &Bytes, expected: &str) -> Result<String, StateError>;

    /// Reads the sharing document; `None` without one.
    ///
    /// # Errors
    /// The service fails, or refuses the access ([`crate::StateErrorKind::Denied`]).
    fn read_document(&self) -> Result<Option<Versioned>, StateError>;

    /// Replaces this version of the document, or creates it if `expected` is none.
    ///
    /// # Errors
    /// As for [`SharedObject::write_state`].
    fn write_document(&self, bytes: &Bytes, expected: Option<&str>) -> Result<(), StateError>;

    /// Takes part in the ordinary lock, or renews it: shared runs hold it together. Tries once.
    ///
    /// # Errors
    /// [`crate::StateErrorKind::Locked`] if a program that does not share the state holds the lock.
    fn hold_lock(&self, info: &LockInfo) -> Result<(), StateError>;

    /// Ends the part of this run in the ordinary lock. `is_last` asks the document whether no other run is left; it is called again
    /// immediately before a lock is released that other runs may have joined.
    ///
    /// # Errors
    /// The service fails.
    fn release_lock(&self, is_last: &dyn Fn() -> Result<bool, StateError>) -> Result<(), StateError>;

    /// Returns the journals of all runs in the store; `None` if the store cannot keep them.
    fn journals(&self) -> Option<Arc<dyn SegmentStore>>;

    /// Returns the time of this machine.
    fn now(&self) -> SystemTime;

    /// Blocks the thread.
    fn sleep(&self, pause: Duration);

    /// Returns a random number.
    fn random(&self) -> u64;
}

/// Decides how long a run waits for claims and for the ordinary lock.
pub struct SharedWait<'a> {
    /// The time to wait (`-lock-timeout`).
    pub timeout: Duration,
    /// Whether to go on waiting.
    pub keep_waiting: &'a dyn Fn() -> bool,
}

/// Returns the pauses between attempts to get something that another run holds.
pub(super) fn waiting_pauses() -> impl Iterator<Item = Duration> {
    [200, 400, 800, 1600].into_iter().chain(std::iter::repeat(3000)).map(Duration::from_millis)
}
