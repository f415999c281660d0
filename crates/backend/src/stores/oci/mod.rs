//! `oci`: states in a bucket of Oracle Cloud, locked by objects that only one run can create.

mod journal;
mod objects;
mod settings;

use std::sync::Arc;

use groma_cloud::api::ApiClient;
use groma_cloud::http::ConnectionSettings;

use crate::backend_type::BackendType;
use crate::error::{StoreError, check_lock_id};
use crate::host::Host;
use crate::lock_info::{LockInfo, held_reason, read_holder};
use crate::schema::Settings;
use crate::store::{
    DEFAULT_WORKSPACE, Expected, HeldLock, JournalStore, LeaseStore, Snapshot, StateStore, StoreFuture, Version, Write,
};
use crate::stores::token_errors::token_error;
use objects::{Bucket, Condition, Outcome};

pub(crate) const TYPE: BackendType = BackendType { name: "oci", schema: settings::schema, open };

/// States in a bucket.
struct OciStore {
    bucket: Bucket,
    key: String,
    prefix: String,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    let credentials = settings::credentials(settings, host)?;
    let api = ApiClient::new(ConnectionSettings::default(), host.environment.for_clouds());
    Ok(Arc::new(OciStore {
        bucket: Bucket {
            api: api.map_err(|problem| token_error("Oracle Object Storage", &problem))?,
            endpoint: settings::endpoint(&credentials, host)?,
            credentials,
            namespace: settings.required("namespace").to_owned(),
            name: settings.required("bucket").to_owned(),
            encryption: settings::OciEncryption::new(settings)?,
        },
        key: settings.required("key").trim_matches('/').to_owned(),
        prefix: settings.required("workspace_key_prefix").trim_matches('/').to_owned(),
    }))
}

impl OciStore {
    fn object(&self, workspace: &str) -> String {
        match workspace {
            DEFAULT_WORKSPACE => self.key.clone(),
            name => format!("{}/{name}/{}", self.prefix, self.key),
        }
    }

    fn lock_object(&self, workspace: &str) -> String {
        format!("{}.lock", self.object(workspace))
    }

    async fn list(&self) -> Result<Vec<String>, StoreError> {
        let (prefix, suffix) = (format!("{}/", self.prefix), format!("/{}", self.key));
        let names = self.bucket.list(&prefix).await?;
        let names = names.iter().filter_map(|name| name.strip_prefix(&prefix)?.strip_suffix(&suffix));
        Ok(names.filter(|name| !name.is_empty() && !name.contains('/')).map(str::to_owned).collect())
    }

    async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let found = self.bucket.get(&self.object(workspace)).await?;
        Ok(found.map(|object| Snapshot { bytes: object.bytes, version: Version(object.etag) }))
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let name = self.object(workspace);
        let condition = match &write.expected {
            Expected::Any => Condition::None,
            Expected::Absent => Condition::Absent,
            Expected::Version(Version(etag)) => Condition::Matches(etag),
        };
        match self.bucket.put_shared(&name, write.bytes, condition).await? {
            Outcome::Done(etag) => Ok(Version(etag)),
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
        let info = LockInfo { path: name.clone(), ..info.clone() };
        let body = serde_json::to_vec(&info).unwrap_or_default();
        let held = || HeldLock { id: info.id.clone(), info: info.clone() };
        // The holder may release the lock between the two requests; then it is free for another attempt.
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            if let Outcome::Done(_) = self.bucket.put(&name, &body, Condition::Absent).await? {
                return Ok(held());
            }
            let Some(found) = self.bucket.get(&name).await? else { continue };
            let holder = read_holder(&found.bytes);
            // The answer to an earlier attempt was lost: the lock is this run's own.
            if holder.id == info.id {
                return Ok(held());
            }
            let reason = held_reason(&holder, "the lock object exists");
            return Err(StoreError::Locked { holder: Some(Box::new(holder)), reason });
        }
        let reason = "other runs keep taking and releasing the lock".to_owned();
        Err(StoreError::Locked { holder: None, reason })
    }

    async fn exchange_lock(&self, workspace: &str, stored: &HeldLock, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let name = self.lock_object(workspace);
        let info = LockInfo { path: name.clone(), ..info.clone() };
        let location = || self.bucket.location(&self.object(workspace));
        let Some(found) = self.bucket.get(&name).await? else { return Err(StoreError::lock_loss(location(), None)) };
        let holder: LockInfo = serde_json::from_slice(&found.bytes).unwrap_or_default();
        let held = HeldLock { id: info.id.clone(), info };
        // The answer to an earlier attempt was lost.
        if holder == held.info {
            return Ok(held);
        }
        if holder != stored.info {
            return Err(StoreError::lock_loss(location(), Some(&holder)));
        }
        let body = serde_json::to_vec(&held.info).unwrap_or_default();
        if let Outcome::Done(_) = self.bucket.put(&name, &body, Condition::Matches(&found.etag)).await? {
            return Ok(held);
        }
        match self.bucket.get(&name).await? {
            // The answer to an earlier attempt of the request was lost.
            Some(found) if found.bytes == body => Ok(held),
            found => {
                let holder = found.and_then(|found| serde_json::from_slice::<LockInfo>(&found.bytes).ok());
                Err(StoreError::lock_loss(location(), holder.as_ref()))
            }
        }
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        let name = self.lock_object(workspace);
        let location = self.bucket.location(&self.object(workspace));
        let Some(found) = self.bucket.get(&name).await? else { return Err(StoreError::NotLocked { location }) };
        let holder: LockInfo = serde_json::from_slice(&found.bytes).unwrap_or_default();
        check_lock_id(holder, id)?;
        match self.bucket.delete(&name, Condition::Matches(&found.etag)).await? {
            // A missing object was deleted by an attempt whose answer was lost.
            Outcome::Done(_) | Outcome::Missing => Ok(()),
            Outcome::Refused => Err(StoreError::LockLost {
                location,
                reason: "another run has replaced the lock object in the meantime".to_owned(),
            }),
        }
    }
}

impl StateStore for OciStore {
    fn location(&self, workspace: &str) -> String {
        self.bucket.location(&self.object(workspace))
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
        Box::pin(async move { self.bucket.delete(&self.object(workspace), Condition::None).await.map(|_| ()) })
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
}

impl LeaseStore for OciStore {
    fn replace_lock<'a>(
        &'a self,
        workspace: &'a str,
        stored: &'a HeldLock,
        info: &'a LockInfo,
    ) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.exchange_lock(workspace, stored, info))
    }
}
