//! `cos`: states in a bucket of Tencent Cloud, locked by objects.

mod objects;
mod settings;
mod tag;

use std::sync::Arc;

use bytes::Bytes;

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::{LockInfo, held_reason};
use crate::schema::Settings;
use crate::store::{DEFAULT_WORKSPACE, Expected, HeldLock, Snapshot, StateStore, StoreFuture, Version, Write};
use crate::stores::digests::md5;
use crate::stores::xml_bucket::{Encryption, Outcome, Overwrite, XmlBucket};
use objects::Cos;
use tag::Tags;

pub(crate) const TYPE: BackendType = BackendType { name: "cos", schema: settings::schema, open };

/// States in a bucket. The service can refuse to replace an object, but has no conditions on its version.
struct CosStore {
    bucket: XmlBucket<Cos>,
    tags: Tags,
    prefix: String,
    key: String,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    let acl = settings.text("acl").unwrap_or("private");
    if !["private", "public-read"].contains(&acl) {
        return Err(StoreError::InvalidArgument {
            argument: "acl".to_owned(),
            reason: format!("it must be \"private\" or \"public-read\", not {acl:?}"),
        });
    }
    let credentials = settings::credentials(settings, host)?;
    let addresses = settings::Addresses::new(settings);
    let name = settings.required("bucket").to_owned();
    Ok(Arc::new(CosStore {
        tags: Tags {
            credentials: credentials.clone(),
            host: addresses.tag,
            region: settings.required("region").to_owned(),
            bucket: name.clone(),
        },
        bucket: XmlBucket {
            service: Cos(credentials),
            base: addresses.bucket,
            name,
            acl: Some(acl.to_owned()),
            encryption: if settings.flag("encrypt") { Encryption::Aes256 } else { Encryption::OfBucket },
        },
        prefix: settings.required("prefix").trim_matches('/').to_owned(),
        key: settings.required("key").trim_matches('/').to_owned(),
    }))
}

impl CosStore {
    fn folder(&self) -> String {
        if self.prefix.is_empty() { String::new() } else { format!("{}/", self.prefix) }
    }

    fn object(&self, workspace: &str) -> String {
        match workspace {
            DEFAULT_WORKSPACE => format!("{}{}", self.folder(), self.key),
            name => format!("{}{name}/{}", self.folder(), self.key),
        }
    }

    fn lock_object(&self, workspace: &str) -> String {
        format!("{}.tflock", self.object(workspace))
    }

    async fn list(&self) -> Result<Vec<String>, StoreError> {
        let (folder, suffix) = (self.folder(), format!("/{}", self.key));
        let keys = self.bucket.list(&folder).await?;
        let names = keys.iter().filter_map(|key| key.strip_prefix(&folder)?.strip_suffix(&suffix));
        Ok(names.filter(|name| !name.is_empty() && !name.contains('/')).map(str::to_owned).collect())
    }

    async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let found = self.bucket.get(&self.object(workspace)).await?;
        Ok(found.map(|bytes| Snapshot { version: Version(md5(&bytes)), bytes }))
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let written = Version(md5(write.bytes));
        let conflict = |found: Option<Snapshot>| StoreError::Conflict {
            location: self.location(workspace),
            found: found.map(|found| found.version),
        };
        // The service has no condition on a version, so it is compared a moment before the write.
        if let Expected::Version(expected) = &write.expected {
            match self.fetch(workspace).await? {
                Some(found) if found.version == *expected || found.version == written => {}
                found => return Err(conflict(found)),
            }
        }
        let overwrite = if write.expected == Expected::Absent { Overwrite::Forbidden } else { Overwrite::Allowed };
        match self.bucket.put(&self.object(workspace), write.bytes, overwrite).await? {
            Outcome::Done => Ok(written),
            Outcome::Refused => match self.fetch(workspace).await? {
                // The answer to an earlier attempt was lost: the object is this run's own.
                Some(found) if found.version == written => Ok(written),
                found => Err(conflict(found)),
            },
        }
    }

    async fn take_lock(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let file = self.lock_object(workspace);
        self.tags.create(&file).await?;
        let taken = self.create_lock(&file, info).await;
        let released = self.tags.delete(&file).await;
        let held = taken?;
        if let Err(problem) = released {
            // With the tag, nobody else could ever lock the state.
            let _ = self.bucket.delete(&file).await;
            return Err(problem);
        }
        Ok(held)
    }

    async fn create_lock(&self, file: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let info = LockInfo { path: file.to_owned(), ..info.clone() };
        let body = Bytes::from(serde_json::to_vec(&info).unwrap_or_default());
        let held = || HeldLock { id: md5(&body), info: info.clone() };
        if self.bucket.put(file, &body, Overwrite::Forbidden).await? == Outcome::Done {
            return Ok(held());
        }
        let Some(found) = self.bucket.get(file).await? else {
            let reason = "the state was locked until now".to_owned();
            return Err(StoreError::Locked { holder: None, reason });
        };
        // The answer to an earlier attempt was lost: the lock is this run's own.
        if found == body {
            return Ok(held());
        }
        let holder = holder(&found);
        let reason = held_reason(&holder, "the lock object exists");
        Err(StoreError::Locked { holder: Some(Box::new(holder)), reason })
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        let file = self.lock_object(workspace);
        let Some(found) = self.bucket.get(&file).await? else {
            return Err(StoreError::NotLocked { location: self.location(workspace) });
        };
        let holder = holder(&found);
        if holder.id != id {
            return Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder)) });
        }
        self.bucket.delete(&file).await
    }
}

/// Returns the info of a lock, under the ID that releases it: the digest of the object.
fn holder(found: &[u8]) -> LockInfo {
    let info: LockInfo = serde_json::from_slice(found).unwrap_or_default();
    LockInfo { id: md5(found), ..info }
}

impl StateStore for CosStore {
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
        Box::pin(async move { self.bucket.delete(&self.object(workspace)).await })
    }

    fn lock<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.take_lock(workspace, info))
    }

    fn unlock<'a>(&'a self, workspace: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(self.release(workspace, id))
    }
}
