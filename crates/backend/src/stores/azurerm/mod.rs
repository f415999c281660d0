//! `azurerm`: states as blobs of an Azure storage account, locked by leases.

mod access;
mod blobs;
mod journal;
mod lock;
mod schema;
mod settings;
mod sharing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::LockInfo;
use crate::schema::Settings;
use crate::store::{
    DEFAULT_WORKSPACE, Expected, HeldLock, JournalStore, LeaseStore, SharingStore, Snapshot, StateStore, StoreFuture,
    Version, Write,
};
use blobs::{Condition, Container, Metadata, Outcome};
use lock::Target;
use settings::Names;

pub(crate) const TYPE: BackendType = BackendType { name: "azurerm", schema: schema::schema, open };

/// States in a container.
struct AzureStore {
    container: Container,
    key: String,
    snapshots: Snapshots,
    /// The metadata of blobs by name, each with the ETag that it belongs to.
    metadata: Mutex<BTreeMap<String, (String, Metadata)>>,
    /// The locks that were deleted with their blobs.
    deleted: Mutex<BTreeSet<String>>,
}

/// Whether a snapshot is taken before each write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Snapshots {
    On,
    Off,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    let Names { account, container, key } = Names::new(settings)?;
    let endpoint = settings::service_endpoint(host, &account);
    Ok(Arc::new(AzureStore {
        container: Container {
            credentials: settings::credentials(settings, host)?,
            access: settings::access(settings)?,
            encryption: settings::AzureEncryption::new(settings)?,
            // Zero would end every request before its answer.
            timeout: Duration::from_secs(settings.number("timeout_seconds").unwrap_or(300).max(1)),
            endpoint: OnceCell::new_with(endpoint),
            account,
            name: container,
        },
        key,
        snapshots: if settings.flag("snapshot") { Snapshots::On } else { Snapshots::Off },
        metadata: Mutex::default(),
        deleted: Mutex::default(),
    }))
}

impl AzureStore {
    fn blob(&self, workspace: &str) -> String {
        match workspace {
            DEFAULT_WORKSPACE => self.key.clone(),
            name => format!("{}{name}", self.prefix()),
        }
    }

    /// The common beginning of the blobs of all workspaces but the default one.
    fn prefix(&self) -> String {
        format!("{}env:", self.key)
    }

    async fn list(&self) -> Result<Vec<String>, StoreError> {
        let prefix = self.prefix();
        let names = self.container.list(&prefix).await?;
        let names = names.iter().filter_map(|name| name.strip_prefix(&prefix));
        // Names with a slash are journals and sharing documents.
        Ok(names.filter(|name| !name.is_empty() && !name.contains('/')).map(str::to_owned).collect())
    }

    async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let blob = self.blob(workspace);
        let Some((bytes, properties)) = self.container.get(&blob).await? else { return Ok(None) };
        self.remember(&blob, &properties.etag, properties.metadata);
        Ok(Some(Snapshot { bytes, version: Version(properties.etag) }))
    }

    fn remember(&self, blob: &str, etag: &str, metadata: Metadata) {
        let mut known = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(blob.to_owned(), (etag.to_owned(), metadata));
    }

    /// Returns the metadata that a write must repeat: that of the version which it replaces.
    async fn metadata(&self, blob: &str, expected: &Expected) -> Result<Option<Metadata>, StoreError> {
        if *expected == Expected::Absent {
            return Ok(None);
        }
        // The metadata of a version never changes without its ETag, so no request is needed.
        if let Expected::Version(Version(etag)) = expected {
            let known = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((known, metadata)) = known.get(blob)
                && known == etag
            {
                return Ok(Some(metadata.clone()));
            }
        }
        Ok(self.container.head(blob).await?.map(|found| found.metadata))
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let blob = self.blob(workspace);
        let found = self.metadata(&blob, &write.expected).await?;
        if self.snapshots == Snapshots::On && found.is_some() {
            self.container.snapshot(&blob).await?;
        }
        // A write replaces the metadata too, so it repeats the info of the lock.
        let metadata = match write.lock {
            Some(held) => lock::with_info(&found.unwrap_or_default(), &held.info),
            None => found.unwrap_or_default(),
        };
        let condition = match &write.expected {
            Expected::Any => Condition::None,
            Expected::Absent => Condition::Absent,
            Expected::Version(Version(etag)) => Condition::Matches(etag),
        };
        let lease = write.lock.map(|held| &*held.id);
        match self.container.put_shared(&blob, write.bytes, &metadata, lease, condition).await? {
            Outcome::Done(etag) => {
                self.remember(&blob, &etag, metadata);
                Ok(Version(etag))
            }
            Outcome::Refused(code) => self.refused(workspace, &write, &code).await,
        }
    }

    /// Explains why a write was refused.
    async fn refused(&self, workspace: &str, write: &Write<'_>, code: &str) -> Result<Version, StoreError> {
        let location = self.location(workspace);
        let found = self.fetch(workspace).await?;
        match (found, write.lock) {
            // The answer to an earlier attempt was lost: the blob is this run's own.
            (Some(found), _) if found.bytes == *write.bytes => Ok(found.version),
            (_, Some(_)) if code.starts_with("Lease") => {
                Err(StoreError::LockLost { location, reason: format!("the lease has ended ({code})") })
            }
            (_, None) if code.starts_with("Lease") => Err(StoreError::Locked {
                holder: None,
                reason: format!("state blob is locked, and Azure refuses writes of other runs ({code})"),
            }),
            (found, _) => Err(StoreError::Conflict { location, found: found.map(|found| found.version) }),
        }
    }

    async fn remove(&self, workspace: &str, lock: Option<&HeldLock>) -> Result<(), StoreError> {
        let blob = self.blob(workspace);
        let lease = lock.map(|held| &*held.id);
        match self.container.delete(&blob, lease, Condition::None).await? {
            Outcome::Done(_) => {
                // The lease ended with its blob, so its release finds nothing to do.
                let mut deleted = self.deleted.lock().unwrap_or_else(PoisonError::into_inner);
                deleted.extend(lease.map(str::to_owned));
                Ok(())
            }
            Outcome::Refused(code) => Err(StoreError::Locked {
                holder: None,
                reason: format!("state blob is locked, and Azure refuses to delete it ({code})"),
            }),
        }
    }

    async fn take_lock(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let blob = self.blob(workspace);
        let info = Target { container: &self.container, blob: &blob }.take(info).await?;
        Ok(HeldLock { id: info.id.clone(), info })
    }

    /// Renews the lease. The service ends one whose holder is gone, so that none is ever taken over.
    async fn exchange_lock(&self, workspace: &str, stored: &HeldLock, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let blob = self.blob(workspace);
        let target = Target { container: &self.container, blob: &blob };
        // Azure ends the lease of a killed run, so no run takes over that of another.
        if stored.id != info.id {
            return Err(StoreError::lock_loss(self.location(workspace), Some(&stored.info)));
        }
        target.renew(&stored.id).await?;
        // The metadata keeps its first deadline: changing it would change the version of the state.
        Ok(HeldLock { id: stored.id.clone(), info: stored.info.clone() })
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        if self.deleted.lock().unwrap_or_else(PoisonError::into_inner).remove(id) {
            return Ok(());
        }
        let blob = self.blob(workspace);
        Target { container: &self.container, blob: &blob }.release(id).await
    }
}

impl StateStore for AzureStore {
    fn location(&self, workspace: &str) -> String {
        self.container.location(&self.blob(workspace))
    }

    fn workspaces(&self) -> StoreFuture<'_, Vec<String>> {
        Box::pin(self.list())
    }

    fn read<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(self.fetch(workspace))
    }

    fn write<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(self.put(workspace, write))
    }

    fn delete_workspace<'a>(&'a self, workspace: &'a str, lock: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        Box::pin(self.remove(workspace, lock))
    }

    fn lock<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.take_lock(workspace, info))
    }

    fn unlock<'a>(&'a self, workspace: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(self.release(workspace, id))
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

impl LeaseStore for AzureStore {
    fn replace_lock<'a>(
        &'a self,
        workspace: &'a str,
        stored: &'a HeldLock,
        info: &'a LockInfo,
    ) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.exchange_lock(workspace, stored, info))
    }
}
