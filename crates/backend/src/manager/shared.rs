//! Shared states in remote stores.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use groma_state::{JournalsAfter, SegmentStore, SharedObject, StateError, StateErrorKind, Versioned};

use super::backend::RemoteBackend;
use super::keeper;
use super::object::state_error;
use super::retry::repeated;
use super::segments::Segments;
use crate::error::StoreError;
use crate::lock_info::{LockInfo, new_lock_id};
use crate::store::{Expected, HeldLock, Leaving, SharedLockStore, SharingStore, Snapshot, Version, Write};

/// The text in the lock info by which shared runs recognize the lock that they hold together.
const MARK: &str = "Held by all runs of Groma that share this state";

/// The attempts to renew a lock that other runs renew at the same time.
const ATTEMPTS: u32 = 20;

/// One workspace of a remote backend with its sharing document.
pub(super) struct RemoteShared {
    backend: RemoteBackend,
    workspace: String,
    /// The ordinary lock as this run has seen it last.
    lock: Mutex<Option<HeldLock>>,
}

impl RemoteShared {
    /// Returns a workspace as an object that runs can share.
    ///
    /// # Errors
    /// The store cannot share states; the error says why.
    pub fn of(backend: &RemoteBackend, workspace: &str) -> Result<Arc<dyn SharedObject>, StoreError> {
        let unsupported =
            |advice: String| StoreError::Unsupported { operation: "sharing the state".to_owned(), advice };
        if backend.store().sharing().is_none() {
            let advice = format!(
                "The backend {:?} cannot replace a document only if it is unchanged, or cannot keep one next to the state. Sharing works \
                 with the backends azurerm, consul, gcs, inmem, kubernetes, local, pg and s3.",
                backend.ty().name
            );
            return Err(unsupported(advice));
        }
        if !backend.store().can_lock() {
            let advice = "The backend is configured without locks, so that Terraform and OpenTofu could not be kept off. Configure a \
                          lock first.";
            return Err(unsupported(advice.to_owned()));
        }
        Ok(Arc::new(Self { backend: backend.clone(), workspace: workspace.to_owned(), lock: Mutex::default() }))
    }

    fn sharing(&self) -> Result<&dyn SharingStore, StoreError> {
        let missing = || StoreError::Unsupported { operation: "sharing the state".to_owned(), advice: String::new() };
        self.backend.store().sharing().ok_or_else(missing)
    }

    /// Sends a request, and repeats it after failures of the network.
    fn repeated<T>(&self, request: impl Fn() -> Result<T, StoreError>) -> Result<T, StoreError> {
        repeated(self.backend.clock(), request)
    }

    /// Repeats a conditional write after failures of the network. Nobody knows then whether it was done, so what is stored decides.
    fn written(
        &self,
        bytes: &[u8],
        write: impl Fn() -> Result<Version, StoreError>,
        read: impl Fn() -> Result<Option<Snapshot>, StoreError>,
    ) -> Result<Version, StoreError> {
        let is_repeated = Cell::new(false);
        self.repeated(|| match write() {
            // Only after another attempt can the conflicting version be this run's own.
            Err(problem @ StoreError::Conflict { .. }) if is_repeated.get() => match read()? {
                Some(found) if found.bytes == bytes => Ok(found.version),
                _ => Err(problem),
            },
            written => {
                is_repeated.set(true);
                written
            }
        })
    }

    fn held(&self) -> Option<HeldLock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_held(&self, held: Option<HeldLock>) {
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }

    fn put_state(&self, bytes: &Bytes, expected: &str) -> Result<Version, StoreError> {
        let held = self.held();
        let store = self.backend.store();
        // Other runs may still have journals in the store, so the write never notes that all are closed.
        let write =
            || {
                let expected = Expected::Version(Version(expected.to_owned()));
                self.backend.block_on(store.write(
                    &self.workspace,
                    Write { bytes, expected, lock: held.as_ref(), journals: JournalsAfter::Open },
                ))
            };
        self.written(bytes, write, || self.backend.read(&self.workspace))
    }

    /// Takes part in the lock, once.
    fn take_part(&self, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let now = self.backend.clock().now();
        if let Some(locks) = self.sharing()?.shared_locks() {
            let info = LockInfo { deadline: keeper::deadline(now), ..info.clone() };
            return self.repeated(|| self.backend.block_on(locks.lock_shared(&self.workspace, &info)));
        }
        let info = LockInfo {
            // A new identifier with every renewal, so that nobody releases the lock of a run that has joined since.
            id: new_lock_id(),
            info: MARK.to_owned(),
            deadline: keeper::deadline(now),
            ..info.clone()
        };
        for _ in 0..ATTEMPTS {
            let store = self.backend.store();
            let holder = match self.repeated(|| self.backend.block_on(store.lock(&self.workspace, &info))) {
                Err(StoreError::Locked { holder: Some(holder), .. })
                    if holder.info == MARK || keeper::is_over(&holder, now) =>
                {
                    *holder
                }
                result => return result,
            };
            let stored = HeldLock { id: holder.id.clone(), info: holder };
            match self.exchange(&stored, &info) {
                // Another run has renewed it.
                Err(StoreError::LockLost { .. }) => self.pause(),
                result => return result,
            }
        }
        Err(StoreError::Service {
            service: self.backend.location(&self.workspace),
            action: "renew the lock".to_owned(),
            reason: "other runs renew it all the time".to_owned(),
        })
    }

    fn exchange(&self, stored: &HeldLock, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let Some(leases) = self.backend.store().leases() else {
            return Err(StoreError::Unsupported { operation: "sharing the lock".to_owned(), advice: String::new() });
        };
        self.repeated(|| self.backend.block_on(leases.replace_lock(&self.workspace, stored, info)))
    }

    fn pause(&self) {
        let clock = self.backend.clock();
        // Random, because runs that have met once would meet again after equal pauses.
        clock.sleep(Duration::from_millis(20 + clock.random() % 256));
    }

    /// Leaves a lock that several sessions hold at once.
    fn leave_lock(
        &self,
        locks: &dyn SharedLockStore,
        held: &HeldLock,
        is_last: &dyn Fn() -> Result<bool, StateError>,
    ) -> Result<(), StateError> {
        let leave = |held: &HeldLock, leaving| {
            let left = self.repeated(|| self.backend.block_on(locks.unlock_shared(&self.workspace, held, leaving)));
            match left {
                // Somebody has released it by force.
                Err(StoreError::NotLocked { .. } | StoreError::LockLost { .. }) => Ok(()),
                left => left.map_err(|problem| state_error(&problem)),
            }
        };
        if !is_last()? {
            return leave(held, Leaving::Others);
        }
        leave(held, Leaving::Last)?;
        // A run may have joined between the question and the release. If the second question fails, that run notices at its next renewal.
        if locks.has_lock_of_session() || is_last().unwrap_or(true) {
            return Ok(());
        }
        match self.take_part(&held.info) {
            Ok(held) => leave(&held, Leaving::Others),
            // Another program was faster, which that run notices at its next renewal.
            Err(StoreError::Locked { .. }) => Ok(()),
            Err(problem) => Err(state_error(&problem)),
        }
    }

    /// Releases the lock, if it is still the one with this identifier: another run that has joined has replaced it.
    fn release(&self, held: &HeldLock, is_last: &dyn Fn() -> Result<bool, StateError>) -> Result<(), StateError> {
        if let Some(locks) = self.sharing().map_err(|problem| state_error(&problem))?.shared_locks() {
            return self.leave_lock(locks, held, is_last);
        }
        // Other runs hold the same lock; the last of them releases it.
        if !is_last()? {
            return Ok(());
        }
        let mut id = held.id.clone();
        for _ in 0..ATTEMPTS {
            match self.repeated(|| self.backend.force_unlock(&self.workspace, &id)) {
                // A run that has left since has renewed the lock.
                Err(StoreError::LockIdMismatch { holder: Some(holder), .. }) if holder.info == MARK => {
                    if !is_last()? {
                        return Ok(());
                    }
                    id = holder.id;
                }
                Err(StoreError::LockIdMismatch { .. } | StoreError::NotLocked { .. } | StoreError::LockLost { .. }) => {
                    return Ok(());
                }
                released => return released.map_err(|problem| state_error(&problem)),
            }
        }
        // Runs that renew it all the time also release it; otherwise its deadline ends it.
        Ok(())
    }
}

fn versioned(snapshot: Snapshot) -> Versioned {
    Versioned { bytes: snapshot.bytes.into(), version: snapshot.version.0 }
}

impl SharedObject for RemoteShared {
    fn location(&self) -> String {
        self.backend.location(&self.workspace)
    }

    fn restore_advice(&self) -> Option<&'static str> {
        Some(self.backend.store().restore_advice())
    }

    fn read_state(&self) -> Result<Option<Versioned>, StateError> {
        let found = self.repeated(|| self.backend.read(&self.workspace));
        Ok(found.map_err(|problem| state_error(&problem))?.map(versioned))
    }

    fn write_state(&self, bytes: &Bytes, expected: &str) -> Result<String, StateError> {
        let mut written = self.put_state(bytes, expected);
        if let Err(StoreError::LockLost { .. }) = written {
            // The lock keeps other programs off, but the write has its own condition. It is taken again, if it is free.
            let info = self.held().map(|held| held.info).unwrap_or_default();
            written = self.take_part(&info).and_then(|held| {
                self.set_held(Some(held));
                self.put_state(bytes, expected)
            });
        }
        written.map(|version| version.0).map_err(|problem| match problem {
            // Reading the state again would not help.
            StoreError::LockLost { .. } => StateError { kind: StateErrorKind::Io, ..state_error(&problem) },
            _ => state_error(&problem),
        })
    }

    fn read_document(&self) -> Result<Option<Versioned>, StateError> {
        let read = || self.backend.block_on(self.sharing()?.read_sharing(&self.workspace));
        Ok(self.repeated(read).map_err(|problem| state_error(&problem))?.map(versioned))
    }

    fn write_document(&self, bytes: &Bytes, expected: Option<&str>) -> Result<(), StateError> {
        let expected = expected.map_or(Expected::Absent, |version| Expected::Version(Version(version.to_owned())));
        let write = || {
            // The lock does not cover the document: its version alone decides.
            let write = Write { bytes, expected: expected.clone(), lock: None, journals: JournalsAfter::Open };
            self.backend.block_on(self.sharing()?.write_sharing(&self.workspace, write))
        };
        let read = || self.backend.block_on(self.sharing()?.read_sharing(&self.workspace));
        self.written(bytes, write, read).map(drop).map_err(|problem| state_error(&problem))
    }

    fn hold_lock(&self, info: &LockInfo) -> Result<(), StateError> {
        let held = self.take_part(info).map_err(|problem| state_error(&problem))?;
        self.set_held(Some(held));
        Ok(())
    }

    fn release_lock(&self, is_last: &dyn Fn() -> Result<bool, StateError>) -> Result<(), StateError> {
        let Some(held) = self.held() else { return Ok(()) };
        self.set_held(None);
        self.release(&held, is_last)
    }

    fn journals(&self) -> Option<Arc<dyn SegmentStore>> {
        // No keeper: shared runs check their claims, not a lock of their own.
        Some(Arc::new(Segments::new(&self.backend, &self.workspace, None, None)?))
    }

    fn now(&self) -> SystemTime {
        self.backend.clock().now()
    }

    fn sleep(&self, pause: Duration) {
        self.backend.clock().sleep(pause);
    }

    fn random(&self) -> u64 {
        self.backend.clock().random()
    }
}
