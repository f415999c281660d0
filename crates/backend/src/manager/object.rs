//! The stored object of one workspace, as the state manager writes it.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use groma_state::{JournalsAfter, SegmentStore, State, StateError, StateErrorKind, StateObject};
use sha2::{Digest, Sha256};

use super::backend::RemoteBackend;
use super::keeper::Keeper;
use super::reading::Listing;
use super::retry::{repeated, request_pauses};
use super::segments::Segments;
use crate::error::StoreError;
use crate::store::{Expected, Snapshot, Version, Write};

/// A workspace's object with the version that the next write replaces.
pub(super) struct StoredObject {
    pub backend: RemoteBackend,
    pub workspace: String,
    pub lock: Option<Arc<Keeper>>,
    stored: Mutex<Stored>,
    /// The listing of the journals, until they are read.
    listing: Mutex<Option<Listing>>,
}

/// What this run knows of the stored state.
struct Stored {
    /// The version that the next write replaces.
    expected: Expected,
    /// The SHA-256 digests of states that this run has tried to write since. The store may have one of them, because no answer came.
    unanswered: Vec<[u8; 32]>,
}

impl Stored {
    fn expecting(expected: Expected) -> Self {
        Self { expected, unanswered: Vec::new() }
    }

    /// Whether a stored state is one that this run has written without an answer.
    fn is_own(&self, bytes: &[u8]) -> bool {
        !self.unanswered.is_empty() && self.unanswered.contains(&digest(bytes))
    }
}

impl StoredObject {
    /// Creates the object of a workspace whose content was read as `found`.
    pub fn new(backend: RemoteBackend, workspace: &str, lock: Option<Arc<Keeper>>, found: Option<&Snapshot>) -> Self {
        let expected = found.map_or(Expected::Absent, |found| Expected::Version(found.version.clone()));
        Self {
            backend,
            workspace: workspace.to_owned(),
            lock,
            stored: Mutex::new(Stored::expecting(expected)),
            listing: Mutex::default(),
        }
    }

    /// Adds the listing of the journals that was made together with reading the state.
    pub fn with_listing(self, listing: Option<Listing>) -> Self {
        Self { listing: Mutex::new(listing), ..self }
    }

    /// Writes over the expected version, or over one that this run has written without an answer. After a failure of the network, nobody
    /// knows whether the write was done, so the store is read before the write is repeated.
    fn write_checked(&self, bytes: &Bytes, stored: &Stored, journals: JournalsAfter) -> Result<Version, StoreError> {
        let mut expected = stored.expected.clone();
        let mut pauses = request_pauses();
        let store = self.backend.store();
        loop {
            // Checked before each attempt: another run may have taken the lock during the pause.
            let lock = self.lock.as_ref().map(|keeper| keeper.check()).transpose()?;
            let write = Write { bytes, expected: expected.clone(), lock: lock.as_ref(), journals };
            let problem = match self.backend.block_on(store.write(&self.workspace, write)) {
                Err(problem @ (StoreError::Network { .. } | StoreError::Service { .. })) => problem,
                Err(problem @ StoreError::Conflict { .. }) => {
                    match repeated(self.backend.clock(), || self.backend.read(&self.workspace)) {
                        Ok(Some(found)) if found.bytes == *bytes => return Ok(found.version),
                        Ok(Some(found)) if stored.is_own(&found.bytes) => {
                            expected = Expected::Version(found.version);
                            continue;
                        }
                        _ => return Err(problem),
                    }
                }
                result => return result,
            };
            let Some(pause) = pauses.next() else { return Err(problem) };
            self.backend.clock().sleep(pause);
            match self.backend.read(&self.workspace) {
                Ok(Some(found)) if found.bytes == *bytes => return Ok(found.version),
                Ok(_) | Err(StoreError::Network { .. } | StoreError::Service { .. }) => {}
                // The failed write is the cause; the failure of the read would only hide it.
                Err(_) => return Err(problem),
            }
        }
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

impl StateObject for StoredObject {
    fn location(&self) -> String {
        self.backend.location(&self.workspace)
    }

    fn restore_advice(&self) -> &'static str {
        self.backend.store().restore_advice()
    }

    fn write(&self, _: &State, bytes: &Bytes, journals: JournalsAfter) -> Result<(), StateError> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        match self.write_checked(bytes, &stored, journals) {
            Ok(version) => {
                *stored = Stored::expecting(Expected::Version(version));
                Ok(())
            }
            Err(problem) => {
                if matches!(problem, StoreError::Network { .. } | StoreError::Service { .. }) {
                    stored.unanswered.push(digest(bytes));
                }
                Err(state_error(&problem))
            }
        }
    }

    fn journal(&self) -> Option<Arc<dyn SegmentStore>> {
        // A run that ignores the lock must not close the journal of the run that holds it.
        if self.lock.is_none() && self.backend.store().can_lock() {
            return None;
        }
        let listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner).take();
        let segments = Segments::new(&self.backend, &self.workspace, self.lock.clone(), listing)?;
        Some(Arc::new(segments))
    }
}

/// Returns a failure of a store as an error of the state.
pub(super) fn state_error(problem: &StoreError) -> StateError {
    let kind = match problem {
        StoreError::Conflict { .. } | StoreError::LockLost { .. } => StateErrorKind::Changed,
        StoreError::Locked { .. } => StateErrorKind::Locked,
        StoreError::AccessDenied { .. } | StoreError::Unauthenticated { .. } => StateErrorKind::Denied,
        StoreError::InvalidData { .. } => StateErrorKind::Malformed,
        StoreError::Unsupported { .. } | StoreError::NotFound { .. } | StoreError::TooLarge { .. } => {
            StateErrorKind::Unsupported
        }
        _ => StateErrorKind::Io,
    };
    StateError::of_store(kind, problem.summary(), problem.detail())
}
