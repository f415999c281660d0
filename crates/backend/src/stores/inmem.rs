//! `inmem`: states in the memory of the process, for tests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groma_value::Type;

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::LockInfo;
use crate::schema::{Argument, BackendSchema, Settings};
use crate::store::{
    DEFAULT_WORKSPACE, Expected, HeldLock, JournalStore, LeaseStore, SegmentCreated, SharingStore, Snapshot,
    StateStore, StoreFuture, Version, Write,
};

pub(crate) const TYPE: BackendType = BackendType { name: "inmem", schema, open };

fn schema() -> &'static BackendSchema {
    static SCHEMA: std::sync::LazyLock<BackendSchema> =
        std::sync::LazyLock::new(|| BackendSchema::new([Argument::optional("lock_id", Type::String)]));
    &SCHEMA
}

/// All stores of the process share their states, so that commands in one process see each other's.
static WORKSPACES: Mutex<BTreeMap<String, Workspace>> = Mutex::new(BTreeMap::new());

#[derive(Default)]
struct Workspace {
    bytes: Option<Vec<u8>>,
    writes: u64,
    lock: Option<LockInfo>,
    segments: BTreeMap<String, Vec<u8>>,
    /// The sharing document, and the number of its writes.
    sharing: Option<(Vec<u8>, u64)>,
}

impl Workspace {
    fn version(&self) -> Version {
        Version(self.writes.to_string())
    }
}

struct InMemory;

fn open(settings: &Settings, _: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    if let Some(id) = settings.text("lock_id") {
        let mut workspaces = workspaces();
        let lock = &mut workspaces.entry(DEFAULT_WORKSPACE.to_owned()).or_default().lock;
        *lock = Some(LockInfo { id: id.to_owned(), operation: "test".to_owned(), ..LockInfo::default() });
    }
    Ok(Arc::new(InMemory))
}

fn workspaces() -> MutexGuard<'static, BTreeMap<String, Workspace>> {
    WORKSPACES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ready<'a, T: Send + 'a>(result: Result<T, StoreError>) -> StoreFuture<'a, T> {
    Box::pin(std::future::ready(result))
}

impl StateStore for InMemory {
    fn location(&self, workspace: &str) -> String {
        format!("the memory of this process (workspace {workspace:?})")
    }

    fn workspaces(&self) -> StoreFuture<'_, Vec<String>> {
        let workspaces = workspaces();
        let stored = workspaces.iter().filter(|(_, workspace)| workspace.bytes.is_some());
        ready(Ok(stored.map(|(name, _)| name.clone()).collect()))
    }

    fn read<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        let workspaces = workspaces();
        let found = workspaces.get(workspace);
        ready(Ok(found.and_then(|found| Some(Snapshot { bytes: found.bytes.clone()?, version: found.version() }))))
    }

    fn write<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        let mut workspaces = workspaces();
        let found = workspaces.entry(workspace.to_owned()).or_default();
        let is_expected = match &write.expected {
            Expected::Any => true,
            Expected::Absent => found.bytes.is_none(),
            Expected::Version(version) => found.bytes.is_some() && *version == found.version(),
        };
        if !is_expected {
            let found = found.bytes.is_some().then(|| found.version());
            return ready(Err(StoreError::Conflict { location: self.location(workspace), found }));
        }
        found.bytes = Some(write.bytes.to_vec());
        found.writes += 1;
        ready(Ok(found.version()))
    }

    fn delete_workspace<'a>(&'a self, workspace: &'a str, _: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        // The lock stays until its holder releases it.
        if let Some(workspace) = workspaces().get_mut(workspace) {
            workspace.bytes = None;
        }
        ready(Ok(()))
    }

    fn lock<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        let mut workspaces = workspaces();
        let lock = &mut workspaces.entry(workspace.to_owned()).or_default().lock;
        if let Some(holder) = lock {
            let holder = Some(Box::new(holder.clone()));
            return ready(Err(StoreError::Locked { holder, reason: "state locked".to_owned() }));
        }
        *lock = Some(info.clone());
        ready(Ok(HeldLock { id: info.id.clone(), info: info.clone() }))
    }

    fn unlock<'a>(&'a self, workspace: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        let mut workspaces = workspaces();
        let lock = &mut workspaces.entry(workspace.to_owned()).or_default().lock;
        ready(match lock {
            None => Err(StoreError::NotLocked { location: self.location(workspace) }),
            Some(holder) if holder.id != id => {
                Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder.clone())) })
            }
            Some(_) => {
                *lock = None;
                Ok(())
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

impl SharingStore for InMemory {
    fn read_sharing<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        let found = workspaces().get(workspace).and_then(|found| found.sharing.clone());
        ready(Ok(found.map(|(bytes, writes)| Snapshot { bytes, version: Version(writes.to_string()) })))
    }

    fn write_sharing<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        let mut workspaces = workspaces();
        let sharing = &mut workspaces.entry(workspace.to_owned()).or_default().sharing;
        let writes = sharing.as_ref().map(|(_, writes)| *writes);
        let found = writes.map(|writes| Version(writes.to_string()));
        let is_expected = match &write.expected {
            Expected::Any => true,
            Expected::Absent => found.is_none(),
            Expected::Version(version) => found.as_ref() == Some(version),
        };
        if !is_expected {
            return ready(Err(StoreError::Conflict { location: self.location(workspace), found }));
        }
        let next = writes.unwrap_or_default() + 1;
        *sharing = Some((write.bytes.to_vec(), next));
        ready(Ok(Version(next.to_string())))
    }
}

impl LeaseStore for InMemory {
    fn replace_lock<'a>(
        &'a self,
        workspace: &'a str,
        stored: &'a HeldLock,
        info: &'a LockInfo,
    ) -> StoreFuture<'a, HeldLock> {
        let mut workspaces = workspaces();
        let lock = &mut workspaces.entry(workspace.to_owned()).or_default().lock;
        if lock.as_ref() != Some(&stored.info) {
            return ready(Err(StoreError::lock_loss(self.location(workspace), lock.as_ref())));
        }
        *lock = Some(info.clone());
        ready(Ok(HeldLock { id: info.id.clone(), info: info.clone() }))
    }
}

impl JournalStore for InMemory {
    fn segments<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Vec<String>> {
        let found = workspaces().get(workspace).map(|found| found.segments.keys().cloned().collect());
        ready(Ok(found.unwrap_or_default()))
    }

    fn read_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        ready(Ok(workspaces().get(workspace).and_then(|found| found.segments.get(name).cloned())))
    }

    fn create_segment<'a>(
        &'a self,
        workspace: &'a str,
        name: &'a str,
        bytes: &'a [u8],
    ) -> StoreFuture<'a, SegmentCreated> {
        let mut workspaces = workspaces();
        let segments = &mut workspaces.entry(workspace.to_owned()).or_default().segments;
        if segments.contains_key(name) {
            return ready(Ok(SegmentCreated::Exists));
        }
        segments.insert(name.to_owned(), bytes.to_vec());
        ready(Ok(SegmentCreated::Yes))
    }

    fn delete_segments<'a>(&'a self, workspace: &'a str, names: &'a [String]) -> StoreFuture<'a, ()> {
        if let Some(found) = workspaces().get_mut(workspace) {
            found.segments.retain(|name, _| !names.contains(name));
        }
        ready(Ok(()))
    }
}
