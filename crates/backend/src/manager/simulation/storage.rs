//! The simulated store, which checks the invariants of each write.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_state::{SegmentCreated, SharingDocument, State, file};

use super::world::{Answer, Inner, World};
use crate::error::StoreError;
use crate::lock_info::LockInfo;
use crate::store::{
    Expected, HeldLock, JournalStore, LeaseStore, SharingStore, Snapshot, StateStore, StoreFuture, Version, Write,
};

/// The content of the store.
#[derive(Default)]
pub(super) struct Storage {
    pub state: Option<Vec<u8>>,
    version: u64,
    lock: Option<LockInfo>,
    segments: BTreeMap<String, Vec<u8>>,
    /// The sharing document, with the number of its writes.
    sharing: Option<(Vec<u8>, u64)>,
    /// The serials that were written, each with the content.
    pub written: Vec<(u64, Vec<u8>)>,
}

impl Storage {
    /// Begins with a state that runs share.
    pub fn share(&mut self, state: Vec<u8>) {
        (self.state, self.version) = (Some(state), 1);
        self.sharing = Some((br#"{"format":1,"enabled":true}"#.to_vec(), 1));
    }
}

/// The store as one run reaches it.
pub(super) struct SimulatedStore {
    pub world: Arc<World>,
    pub actor: usize,
}

/// Returns the identifiers of all objects in a state.
pub(super) fn identifiers(state: &State) -> Vec<String> {
    let mut found = Vec::new();
    for view in state.iter() {
        let objects = view.record.current.iter().chain(view.record.deposed.values());
        found.extend(objects.filter_map(|object| object.id_json()).map(|id| id.replace('"', "")));
    }
    found
}

fn location() -> String {
    "simulated://state".to_owned()
}

impl SimulatedStore {
    fn request<'a, T: Send + 'a>(
        &'a self,
        effect: impl Fn(&mut Inner) -> Result<T, StoreError> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            match self.world.request(self.actor, effect) {
                Answer::Given(result) => result,
                Answer::Missing => Err(StoreError::Network { service: location(), reason: "no answer".to_owned() }),
            }
        })
    }
}

fn write(inner: &mut Inner, bytes: &[u8], expected: &Expected) -> Result<Version, StoreError> {
    let current = inner.storage.state.as_ref().map(|_| Version(inner.storage.version.to_string()));
    let is_expected = match expected {
        Expected::Any => true,
        Expected::Absent => current.is_none(),
        Expected::Version(version) => current.as_ref() == Some(version),
    };
    if !is_expected {
        // The answer to an earlier attempt was lost.
        if let (Some(found), Some(version)) = (&inner.storage.state, &current)
            && found == bytes
        {
            return Ok(version.clone());
        }
        return Err(StoreError::Conflict { location: location(), found: current });
    }
    check(inner, bytes);
    inner.storage.version += 1;
    inner.storage.state = Some(bytes.to_vec());
    Ok(Version(inner.storage.version.to_string()))
}

/// Checks a write against the state that it replaces.
pub(super) fn check(inner: &mut Inner, bytes: &[u8]) {
    let new = file::read(bytes).unwrap();
    if let Some(old) = &inner.storage.state {
        let old = file::read(old).unwrap();
        if new.lineage != old.lineage || new.serial <= old.serial {
            inner.violate(format!("serial {} follows {}", new.serial, old.serial));
        }
        let kept = identifiers(&new);
        for id in identifiers(&old) {
            // Only objects that the cloud has deleted may leave the state.
            if !kept.contains(&id) && inner.cloud.alive.contains_key(&id) {
                inner.violate(format!("serial {} loses the living object {id}", new.serial));
            }
        }
    }
    inner.note("writes", &format!("serial {} with {:?}", new.serial, identifiers(&new)));
    inner.storage.written.push((new.serial, bytes.to_vec()));
}

impl StateStore for SimulatedStore {
    fn location(&self, _: &str) -> String {
        location()
    }

    fn workspaces(&self) -> StoreFuture<'_, Vec<String>> {
        self.request(|_| Ok(vec!["default".to_owned()]))
    }

    fn read<'a>(&'a self, _: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        self.request(move |inner| {
            let version = Version(inner.storage.version.to_string());
            Ok(inner.storage.state.clone().map(|bytes| Snapshot { bytes, version }))
        })
    }

    fn write<'a>(&'a self, _: &'a str, given: Write<'a>) -> StoreFuture<'a, Version> {
        self.request(move |inner| write(inner, given.bytes, &given.expected))
    }

    fn delete_workspace<'a>(&'a self, _: &'a str, _: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        self.request(|_| Ok(()))
    }

    fn lock<'a>(&'a self, _: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        self.request(move |inner| {
            let held = HeldLock { id: info.id.clone(), info: info.clone() };
            match &inner.storage.lock {
                // The answer to an earlier attempt was lost: the lock is this run's own.
                Some(holder) if holder.id == info.id => Ok(held),
                Some(holder) => {
                    Err(StoreError::Locked { holder: Some(Box::new(holder.clone())), reason: "held".to_owned() })
                }
                None => {
                    inner.note("locks", &info.id);
                    inner.storage.lock = Some(info.clone());
                    Ok(held)
                }
            }
        })
    }

    fn unlock<'a>(&'a self, _: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        self.request(move |inner| match &inner.storage.lock {
            None => Err(StoreError::NotLocked { location: location() }),
            Some(holder) if holder.id == id => {
                inner.storage.lock = None;
                inner.note("unlocks", &id);
                Ok(())
            }
            Some(holder) => {
                Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder.clone())) })
            }
        })
    }

    fn leases(&self) -> Option<&dyn LeaseStore> {
        Some(self)
    }

    fn journals(&self) -> Option<&dyn JournalStore> {
        Some(self)
    }

    fn sharing(&self) -> Option<&dyn SharingStore> {
        Some(self)
    }
}

impl SharingStore for SimulatedStore {
    fn read_sharing<'a>(&'a self, _: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        self.request(|inner| {
            let found = inner.storage.sharing.clone();
            Ok(found.map(|(bytes, writes)| Snapshot { bytes, version: Version(writes.to_string()) }))
        })
    }

    fn write_sharing<'a>(&'a self, _: &'a str, given: Write<'a>) -> StoreFuture<'a, Version> {
        self.request(move |inner| {
            let writes = inner.storage.sharing.as_ref().map(|(_, writes)| *writes);
            let found = writes.map(|writes| Version(writes.to_string()));
            let is_expected = match &given.expected {
                Expected::Any => true,
                Expected::Absent => found.is_none(),
                Expected::Version(version) => found.as_ref() == Some(version),
            };
            if !is_expected {
                return Err(StoreError::Conflict { location: location(), found });
            }
            check_claims(inner, given.bytes);
            let next = writes.unwrap_or_default() + 1;
            inner.storage.sharing = Some((given.bytes.to_vec(), next));
            Ok(Version(next.to_string()))
        })
    }
}

/// Checks that no record has two holders.
fn check_claims(inner: &mut Inner, bytes: &[u8]) {
    let new: SharingDocument = serde_json::from_slice(bytes).unwrap();
    let mut holders: BTreeMap<String, &str> = BTreeMap::new();
    let claims =
        new.runs.iter().flat_map(|(run, entry)| entry.claims.iter().map(move |claim| (claim.to_string(), run)));
    for (claim, run) in claims {
        if let Some(other) = holders.insert(claim.clone(), run) {
            inner.violate(format!("{claim} is claimed by {run} and {other}"));
        }
    }
    let summary: Vec<String> =
        new.runs.iter().map(|(run, entry)| format!("{run} of {}: {} claims", entry.who, entry.claims.len())).collect();
    inner.note("writes the document", &format!("{summary:?}"));
}

impl LeaseStore for SimulatedStore {
    fn replace_lock<'a>(&'a self, _: &'a str, stored: &'a HeldLock, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        self.request(move |inner| {
            let held = HeldLock { id: info.id.clone(), info: info.clone() };
            match &inner.storage.lock {
                // The answer to an earlier attempt was lost: the lock is this run's own.
                Some(holder) if holder == info => Ok(held),
                Some(holder) if *holder == stored.info => {
                    inner.note(if stored.id == info.id { "renews" } else { "takes over" }, &info.id);
                    // Shared runs renew the lock that they hold together under new identifiers.
                    let is_shared = !info.info.is_empty() && stored.info.info == info.info;
                    if stored.id != info.id && !is_shared && inner.now < inner.time_of(&stored.info) {
                        inner.violate("a lock is taken over before its deadline".to_owned());
                    }
                    inner.storage.lock = Some(info.clone());
                    Ok(held)
                }
                holder => Err(StoreError::lock_loss(location(), holder.as_ref())),
            }
        })
    }
}

impl JournalStore for SimulatedStore {
    fn segments<'a>(&'a self, _: &'a str) -> StoreFuture<'a, Vec<String>> {
        self.request(|inner| Ok(inner.storage.segments.keys().cloned().collect()))
    }

    fn read_segment<'a>(&'a self, _: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.request(move |inner| Ok(inner.storage.segments.get(name).cloned()))
    }

    fn create_segment<'a>(&'a self, _: &'a str, name: &'a str, bytes: &'a [u8]) -> StoreFuture<'a, SegmentCreated> {
        self.request(move |inner| {
            if inner.storage.segments.contains_key(name) {
                return Ok(SegmentCreated::Exists);
            }
            inner.note("creates segment", &format!("{name} of {} bytes", bytes.len()));
            inner.storage.segments.insert(name.to_owned(), bytes.to_vec());
            Ok(SegmentCreated::Yes)
        })
    }

    fn delete_segments<'a>(&'a self, _: &'a str, names: &'a [String]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            // As over S3: the first segments, then all others in one request. A run may be killed in between.
            let (first, later): (Vec<_>, Vec<_>) = names.iter().partition(|name| name.ends_with("/00000001"));
            for batch in [first, later] {
                if !batch.is_empty() {
                    self.request(|inner| delete_batch(inner, &batch)).await?;
                }
            }
            Ok(())
        })
    }
}

/// Deletes the objects of one request, in any order. If the request fails, some of them stay.
fn delete_batch(inner: &mut Inner, names: &[&String]) -> Result<(), StoreError> {
    // Deletions are few, so that they fail more often than other requests.
    let is_broken = inner.faults.errors > 0 && inner.random.once_in(3);
    for name in names {
        if is_broken && inner.random.below(2) == 0 {
            continue;
        }
        inner.note("deletes segment", name);
        inner.storage.segments.remove(*name);
    }
    if !is_broken {
        return Ok(());
    }
    let reason = "some objects stay".to_owned();
    Err(StoreError::Service { service: location(), action: "delete segments".to_owned(), reason })
}
