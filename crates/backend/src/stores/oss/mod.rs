//! `oss`: states in a bucket of Alibaba Cloud, locked by rows of a Tablestore table.

mod objects;
mod plain_buffer;
mod settings;
mod table;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::{LockInfo, held_reason};
use crate::schema::Settings;
use crate::store::{
    DEFAULT_WORKSPACE, Expected, HeldLock, LeaseStore, Snapshot, StateStore, StoreFuture, Version, Write,
};
use crate::stores::digests::{Digest, DigestNames, DigestedState, Object, md5, read_checked};
use crate::stores::lock_table::{LockTable, PutLock, digest_key};
use crate::stores::xml_bucket::{Encryption, Outcome, Overwrite, XmlBucket};
use objects::Oss;
use settings::{Instance, Names};
use table::{Table, TablestoreRows};

pub(crate) const TYPE: BackendType = BackendType { name: "oss", schema: settings::schema, open };

/// States in a bucket. The service can refuse to replace an object, but has no conditions on its version. In a bucket with
/// versions it does not even refuse that, so the store keeps no journals.
struct OssStore {
    bucket: XmlBucket<Oss>,
    table: Option<Table>,
    names: Names,
    /// The states whose locks this process holds, by their keys in the table.
    locked: Mutex<BTreeSet<String>>,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    let names = Names::new(settings)?;
    let acl = settings::acl(settings)?;
    let table = settings.text("tablestore_table").filter(|name| !name.is_empty());
    let instance = table.map(|_| Instance::new(settings)).transpose()?;
    let credentials = settings::credentials(settings, host)?;
    let rows = table.zip(instance).map(|(name, instance)| TablestoreRows {
        credentials: credentials.clone(),
        endpoint: instance.endpoint,
        instance: instance.name,
        name: name.to_owned(),
    });
    Ok(Arc::new(OssStore {
        table: rows.map(LockTable),
        bucket: XmlBucket {
            base: settings::bucket_url(settings, &credentials)?,
            service: Oss(credentials),
            name: settings.required("bucket").to_owned(),
            acl,
            encryption: if settings.flag("encrypt") { Encryption::Aes256 } else { Encryption::OfBucket },
        },
        names,
        locked: Mutex::default(),
    }))
}

/// A state with its digest.
struct Digested<'a> {
    store: &'a OssStore,
    table: &'a Table,
    key: &'a str,
}

impl DigestedState for Digested<'_> {
    async fn read(&self) -> Result<Option<Object>, StoreError> {
        self.store.bucket.get(self.key).await
    }

    async fn recorded(&self) -> Result<Option<Digest>, StoreError> {
        self.table.digest(&self.store.path(self.key)).await
    }

    async fn replace(&self, old: &Digest, new: &Digest) -> Result<(), StoreError> {
        self.table.replace_digest(&self.store.path(self.key), old, new).await
    }

    fn is_locked_here(&self) -> bool {
        let locked = self.store.locked.lock().unwrap_or_else(PoisonError::into_inner);
        locked.contains(&self.store.path(self.key))
    }

    fn names(&self) -> DigestNames {
        DigestNames {
            service: "OSS",
            location: self.store.bucket.location(self.key),
            table: self.table.name().to_owned(),
            item: digest_key(&self.store.path(self.key)),
        }
    }
}

impl OssStore {
    fn folder(&self) -> String {
        if self.names.prefix.is_empty() { String::new() } else { format!("{}/", self.names.prefix) }
    }

    fn object(&self, workspace: &str) -> String {
        match workspace {
            DEFAULT_WORKSPACE => format!("{}{}", self.folder(), self.names.key),
            name => format!("{}{name}/{}", self.folder(), self.names.key),
        }
    }

    /// The name of a state in the table.
    fn path(&self, key: &str) -> String {
        format!("{}/{key}", self.bucket.name)
    }

    async fn list(&self) -> Result<Vec<String>, StoreError> {
        let (folder, suffix) = (self.folder(), format!("/{}", self.names.key));
        let keys = self.bucket.list(&folder).await?;
        let names = keys.iter().filter_map(|key| key.strip_prefix(&folder)?.strip_suffix(&suffix));
        // Objects further below the prefix are not workspaces; Terraform and OpenTofu list them as such.
        Ok(names.filter(|name| !name.is_empty() && !name.contains('/')).map(str::to_owned).collect())
    }

    async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let key = self.object(workspace);
        let found = match &self.table {
            Some(table) => read_checked(&Digested { store: self, table, key: &key }).await?,
            None => self.bucket.get(&key).await?,
        };
        Ok(found.map(|object| Snapshot { version: Version(object.version), bytes: object.bytes }))
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let key = self.object(workspace);
        let written = Version(md5(write.bytes));
        let conflict = |found: Option<Object>| StoreError::Conflict {
            location: self.location(workspace),
            found: found.map(|found| Version(found.version)),
        };
        // The service has no condition on a version, so the object is compared a moment before the write.
        if write.expected != Expected::Any {
            let found = self.bucket.get(&key).await?;
            let is_expected = match (&write.expected, &found) {
                // The answer to an earlier attempt was lost: the object is this run's own.
                (_, Some(found)) if found.version == written.0 => true,
                (Expected::Version(expected), Some(found)) => found.version == expected.0,
                (Expected::Absent, None) => true,
                _ => false,
            };
            if !is_expected {
                return Err(conflict(found));
            }
        }
        let overwrite = if write.expected == Expected::Absent { Overwrite::Forbidden } else { Overwrite::Allowed };
        if self.bucket.put(&key, write.bytes, overwrite).await? == Outcome::Refused {
            // Another run created the state after the comparison, or an earlier attempt did so unanswered.
            match self.bucket.get(&key).await? {
                Some(found) if found.version == written.0 => {}
                found => return Err(conflict(found)),
            }
        }
        // The digest follows the object: a run killed in between leaves a newer object, which repairs its digest.
        if let Some(table) = &self.table {
            table.put_digest(&self.path(&key), &Digest::of(write.bytes)).await?;
        }
        Ok(written)
    }

    async fn remove(&self, workspace: &str) -> Result<(), StoreError> {
        let key = self.object(workspace);
        // The digest is deleted first, because reads refuse a digest without an object.
        if let Some(table) = &self.table {
            table.delete_digest(&self.path(&key)).await?;
        }
        self.bucket.delete(&key).await
    }

    fn lock_table(&self) -> Result<&Table, StoreError> {
        self.table.as_ref().ok_or_else(|| StoreError::Unsupported {
            operation: "locks".to_owned(),
            advice: "Set tablestore_table and tablestore_endpoint.".to_owned(),
        })
    }

    async fn take_lock(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let path = self.path(&self.object(workspace));
        let info = LockInfo { path: path.clone(), ..info.clone() };
        match self.lock_table()?.put_lock(&path, &info).await? {
            PutLock::Done => {
                self.locked.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
                Ok(HeldLock { id: info.id.clone(), info })
            }
            PutLock::Held(holder) => {
                let reason = match &holder {
                    Some(holder) => held_reason(holder, "its row in the lock table exists"),
                    None => "other runs keep taking and releasing the lock".to_owned(),
                };
                Err(StoreError::Locked { holder: holder.map(Box::new), reason })
            }
        }
    }

    async fn exchange_lock(&self, workspace: &str, stored: &HeldLock, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let key = self.object(workspace);
        let path = self.path(&key);
        let table = self.lock_table()?;
        let held = HeldLock { id: info.id.clone(), info: LockInfo { path: path.clone(), ..info.clone() } };
        let Some(found) = table.lock(&path).await? else {
            return Err(StoreError::lock_loss(self.bucket.location(&key), None));
        };
        let holder = found.holder();
        // The answer to an earlier attempt was lost.
        if holder != held.info {
            if holder != stored.info {
                return Err(StoreError::lock_loss(self.bucket.location(&key), Some(&holder)));
            }
            table.replace_lock(&path, &self.bucket.location(&key), &found, &held.info).await?;
        }
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
        Ok(held)
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        let path = self.path(&self.object(workspace));
        self.lock_table()?.release(&path, &self.location(workspace), id).await?;
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).remove(&path);
        Ok(())
    }
}

impl StateStore for OssStore {
    fn location(&self, workspace: &str) -> String {
        self.bucket.location(&self.object(workspace))
    }

    fn can_lock(&self) -> bool {
        self.table.is_some()
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
        Box::pin(self.remove(workspace))
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
}

impl LeaseStore for OssStore {
    fn replace_lock<'a>(
        &'a self,
        workspace: &'a str,
        stored: &'a HeldLock,
        info: &'a LockInfo,
    ) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.exchange_lock(workspace, stored, info))
    }
}
