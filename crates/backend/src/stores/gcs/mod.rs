//! `gcs`: states in a bucket of Google Cloud Storage, locked by objects that only one run can create.

mod api;
mod settings;
mod sidecars;

use std::sync::Arc;

use bytes::Bytes;

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::{LockInfo, held_reason};
use crate::schema::Settings;
use crate::store::{
    Expected, HeldLock, JournalStore, LeaseStore, SharingStore, Snapshot, StateStore, StoreFuture, Version, Write,
};
use crate::stores::token_errors::token_error;
use api::{Bucket, Outcome};
use groma_cloud::api::ApiClient;
use groma_cloud::http::ConnectionSettings;
use settings::GcsEncryption;

pub(crate) const TYPE: BackendType = BackendType { name: "gcs", schema: settings::schema, open };

/// The generation of an object that does not exist.
const ABSENT: &str = "0";

/// States in a folder of a bucket: `W.tfstate` for each workspace, `default` included, and `W.tflock` while it is locked.
struct GcsStore {
    bucket: Bucket,
    folder: String,
    encryption: GcsEncryption,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    let is_emulated = settings::emulator(host).is_some() && settings.text("storage_custom_endpoint").is_none();
    let credentials = if is_emulated { None } else { Some(settings::credentials(settings, host)?) };
    let api = match &credentials {
        Some(credentials) => credentials.api().clone(),
        None => ApiClient::new(ConnectionSettings::default(), host.environment.for_clouds())
            .map_err(|problem| token_error("Cloud Storage", &problem))?,
    };
    let bucket = Bucket {
        api,
        credentials,
        base: settings::base_url(settings, host),
        name: settings.required("bucket").to_owned(),
    };
    let encryption = GcsEncryption::new(settings, host)?;
    Ok(Arc::new(GcsStore { bucket, folder: settings::folder(settings), encryption }))
}

impl GcsStore {
    fn state(&self, workspace: &str) -> String {
        format!("{}{workspace}.tfstate", self.folder)
    }

    fn lock_object(&self, workspace: &str) -> String {
        format!("{}{workspace}.tflock", self.folder)
    }

    async fn list(&self) -> Result<Vec<String>, StoreError> {
        let names = self.bucket.list(&self.folder).await?;
        let names = names.iter().filter_map(|name| name.strip_prefix(&self.folder)?.strip_suffix(".tfstate"));
        Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let found = self.bucket.get(&self.state(workspace), Some(&self.encryption)).await?;
        Ok(found.map(|object| Snapshot { bytes: object.bytes, version: Version(object.generation) }))
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let name = self.state(workspace);
        let generation = match &write.expected {
            Expected::Any => None,
            Expected::Absent => Some(ABSENT),
            Expected::Version(Version(generation)) => Some(&**generation),
        };
        match self.bucket.put(&name, write.bytes, generation, Some(&self.encryption)).await? {
            Outcome::Done(generation) => Ok(Version(generation)),
            Outcome::Refused | Outcome::Missing => match self.fetch(workspace).await? {
                // The answer to an earlier attempt was lost: the object is this run's own.
                Some(found) if found.bytes == *write.bytes => Ok(found.version),
                found => Err(StoreError::Conflict {
                    location: self.bucket.location(&name),
                    found: found.map(|found| found.version),
                }),
            },
        }
    }

    async fn take_lock(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let name = self.lock_object(workspace);
        let info = LockInfo { path: self.bucket.location(&name), ..info.clone() };
        let body = Bytes::from(serde_json::to_vec(&info).unwrap_or_default());
        // The holder may release the lock between the two requests; then it is free for another attempt.
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            if let Outcome::Done(generation) = self.bucket.put(&name, &body, Some(ABSENT), None).await? {
                return Ok(HeldLock { id: generation, info });
            }
            let Some((generation, holder)) = self.holder(&name).await? else { continue };
            // The answer to an earlier attempt was lost: the lock is this run's own.
            if holder.as_ref().is_some_and(|holder| holder.id == info.id) {
                return Ok(HeldLock { id: generation, info });
            }
            // The generation is the ID that releases the lock.
            let holder = LockInfo { id: generation, ..holder.unwrap_or_default() };
            let reason = held_reason(&holder, "the lock object exists");
            return Err(StoreError::Locked { holder: Some(Box::new(holder)), reason });
        }
        let reason = "other runs keep taking and releasing the lock".to_owned();
        Err(StoreError::Locked { holder: None, reason })
    }

    /// Returns the generation of a lock object, and its info if that is readable.
    async fn holder(&self, name: &str) -> Result<Option<(String, Option<LockInfo>)>, StoreError> {
        let found = self.bucket.get(name, None).await?;
        Ok(found.map(|object| (object.generation, serde_json::from_slice(&object.bytes).ok())))
    }

    async fn exchange_lock(&self, workspace: &str, stored: &HeldLock, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let name = self.lock_object(workspace);
        let info = LockInfo { path: self.bucket.location(&name), ..info.clone() };
        let body = Bytes::from(serde_json::to_vec(&info).unwrap_or_default());
        if let Outcome::Done(generation) = self.bucket.put(&name, &body, Some(&stored.id), None).await? {
            return Ok(HeldLock { id: generation, info });
        }
        match self.holder(&name).await? {
            // The answer to an earlier attempt was lost.
            Some((generation, Some(holder))) if holder == info => Ok(HeldLock { id: generation, info }),
            found => {
                let location = self.bucket.location(&self.state(workspace));
                Err(StoreError::lock_loss(location, found.and_then(|(_, holder)| holder).as_ref()))
            }
        }
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        let name = self.lock_object(workspace);
        // Only a generation can be a condition; 0 would mean that the object must not exist.
        let is_generation = id.parse::<i64>().is_ok_and(|generation| generation > 0);
        let outcome = if is_generation { self.bucket.delete(&name, Some(id)).await? } else { Outcome::Refused };
        let not_locked = || StoreError::NotLocked { location: self.bucket.location(&self.state(workspace)) };
        match outcome {
            Outcome::Done(_) => Ok(()),
            Outcome::Missing => Err(not_locked()),
            Outcome::Refused => match self.holder(&name).await? {
                None => Err(not_locked()),
                Some((generation, holder)) => {
                    let holder = LockInfo { id: generation, ..holder.unwrap_or_default() };
                    Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder)) })
                }
            },
        }
    }
}

impl StateStore for GcsStore {
    fn location(&self, workspace: &str) -> String {
        self.bucket.location(&self.state(workspace))
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

    fn delete_workspace<'a>(&'a self, workspace: &'a str, _: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.bucket.delete(&self.state(workspace), None).await.map(|_| ()) })
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

impl LeaseStore for GcsStore {
    fn replace_lock<'a>(
        &'a self,
        workspace: &'a str,
        stored: &'a HeldLock,
        info: &'a LockInfo,
    ) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.exchange_lock(workspace, stored, info))
    }
}
