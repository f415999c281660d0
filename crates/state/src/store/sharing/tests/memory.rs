//! A store in memory that several machines share, with a clock of its own and faults.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use crate::error::{StateError, StateErrorKind};
use crate::file;
use crate::journal::{SegmentCreated, SegmentId, SegmentStore};
use crate::model::State;
use crate::random::random_bits;
use crate::store::lock::LockInfo;
use crate::store::sharing::document::SharingDocument;
use crate::store::sharing::object::{SharedObject, Versioned};

/// The stored objects, each with its version.
#[derive(Default)]
pub struct MemoryStore {
    pub content: Mutex<MemoryContent>,
    /// The milliseconds since the beginning.
    clock: AtomicU64,
}

#[derive(Default)]
pub struct MemoryContent {
    state: Option<(Bytes, u64)>,
    document: Option<(Bytes, u64)>,
    segments: BTreeMap<SegmentId, Vec<u8>>,
    /// The time until which another program holds the ordinary lock alone.
    pub locked_until: Option<SystemTime>,
    /// The runs that were found over while the clock ran.
    pub found_over: BTreeSet<String>,
    /// The error of all requests.
    pub failure: Option<StateErrorKind>,
    /// Whether another run is faster with each write.
    pub is_contended: bool,
    /// The seconds that each read of the state takes.
    pub read_seconds: u64,
}

fn failed(kind: StateErrorKind) -> StateError {
    StateError::of_store(kind, "the store fails", "")
}

impl MemoryStore {
    /// Returns a store with a shared state.
    pub fn shared(state: &State) -> Arc<Self> {
        let store = Self::default();
        store.content().state = Some((file::write(state).into(), 1));
        store.set_document(&SharingDocument { enabled: true, ..SharingDocument::default() }.bytes());
        Arc::new(store)
    }

    pub fn content(&self) -> MutexGuard<'_, MemoryContent> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_document(&self, bytes: &[u8]) {
        let mut content = self.content();
        let version = content.document.as_ref().map_or(1, |(_, version)| version + 1);
        content.document = Some((Bytes::copy_from_slice(bytes), version));
    }

    pub fn document(&self) -> SharingDocument {
        SharingDocument::parse(&self.content().document.as_ref().unwrap().0).unwrap()
    }

    /// Lets time pass.
    pub fn pass(&self, seconds: u64) {
        self.clock.fetch_add(1000 * seconds, Ordering::Relaxed);
    }

    fn content_or_failure(&self) -> Result<MutexGuard<'_, MemoryContent>, StateError> {
        let content = self.content();
        match content.failure {
            Some(kind) => Err(failed(kind)),
            None => Ok(content),
        }
    }
}

fn versioned(found: &Option<(Bytes, u64)>) -> Option<Versioned> {
    found.as_ref().map(|(bytes, version)| Versioned { bytes: bytes.clone(), version: version.to_string() })
}

fn replace(
    stored: &mut Option<(Bytes, u64)>,
    bytes: &Bytes,
    expected: Option<&str>,
    is_contended: bool,
) -> Result<String, StateError> {
    let found = versioned(stored).map(|found| found.version);
    if is_contended || found.as_deref() != expected {
        return Err(failed(StateErrorKind::Changed));
    }
    let version = stored.as_ref().map_or(1, |(_, version)| version + 1);
    *stored = Some((bytes.clone(), version));
    Ok(version.to_string())
}

/// The store as one machine reaches it.
#[derive(Clone)]
pub struct MachineObject(pub Arc<MemoryStore>);

impl SharedObject for MachineObject {
    fn location(&self) -> String {
        "memory://state".to_owned()
    }

    fn read_state(&self) -> Result<Option<Versioned>, StateError> {
        let content = self.0.content_or_failure()?;
        self.0.pass(content.read_seconds);
        Ok(versioned(&content.state))
    }

    fn write_state(&self, bytes: &Bytes, expected: &str) -> Result<String, StateError> {
        let mut content = self.0.content_or_failure()?;
        let is_contended = content.is_contended;
        replace(&mut content.state, bytes, Some(expected), is_contended)
    }

    fn read_document(&self) -> Result<Option<Versioned>, StateError> {
        Ok(versioned(&self.0.content_or_failure()?.document))
    }

    fn write_document(&self, bytes: &Bytes, expected: Option<&str>) -> Result<(), StateError> {
        let mut content = self.0.content_or_failure()?;
        let is_contended = content.is_contended;
        replace(&mut content.document, bytes, expected, is_contended).map(drop)
    }

    fn hold_lock(&self, _: &LockInfo) -> Result<(), StateError> {
        let is_locked = self.0.content_or_failure()?.locked_until.is_some_and(|until| self.now() < until);
        if is_locked { Err(failed(StateErrorKind::Locked)) } else { Ok(()) }
    }

    fn release_lock(&self, is_last: &dyn Fn() -> Result<bool, StateError>) -> Result<(), StateError> {
        is_last().map(drop)
    }

    fn journals(&self) -> Option<Arc<dyn SegmentStore>> {
        Some(Arc::clone(&self.0) as Arc<dyn SegmentStore>)
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
            + Duration::from_secs(1_795_257_000)
            + Duration::from_millis(self.0.clock.load(Ordering::Relaxed))
    }

    fn sleep(&self, pause: Duration) {
        self.0.clock.fetch_add(pause.as_millis() as u64, Ordering::Relaxed);
        let now = self.now();
        let over = self.0.document().runs.into_iter().filter(|(_, entry)| entry.is_over(now));
        let over: Vec<String> = over.map(|(run, _)| run).collect();
        self.0.content().found_over.extend(over);
    }

    fn random(&self) -> u64 {
        random_bits()
    }
}

impl SegmentStore for MemoryStore {
    fn list(&self) -> Result<Vec<SegmentId>, StateError> {
        Ok(self.content_or_failure()?.segments.keys().cloned().collect())
    }

    fn read(&self, id: &SegmentId) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.content_or_failure()?.segments.get(id).cloned())
    }

    fn create(&self, id: &SegmentId, bytes: &[u8]) -> Result<SegmentCreated, StateError> {
        let mut content = self.content_or_failure()?;
        match content.segments.get(id) {
            Some(found) if found == bytes => Ok(SegmentCreated::Yes),
            Some(_) => Ok(SegmentCreated::Exists),
            None => {
                content.segments.insert(id.clone(), bytes.to_vec());
                Ok(SegmentCreated::Yes)
            }
        }
    }

    fn delete(&self, ids: &[SegmentId]) -> Result<(), StateError> {
        let mut content = self.content_or_failure()?;
        ids.iter().for_each(|id| drop(content.segments.remove(id)));
        Ok(())
    }

    fn longest(&self) -> usize {
        1 << 20
    }
}
