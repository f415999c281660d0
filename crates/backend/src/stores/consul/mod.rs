//! `consul`: states in the key-value store of Consul, with session locks.

mod api;
mod chunks;
mod journal;
mod lock;
mod settings;
mod sharing;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::LockInfo;
use crate::schema::Settings;
use crate::store::{
    DEFAULT_WORKSPACE, Expected, HeldLock, JournalStore, SharingStore, Snapshot, StateStore, StoreFuture, Version,
    Write,
};
use api::{Api, Committed};
use chunks::{Compression, Payload, Stored};
use lock::LiveLock;
use sharing::SharedSession;

pub(crate) const TYPE: BackendType = BackendType { name: "consul", schema: settings::schema, open };

/// States below one path of the key-value store.
struct ConsulStore {
    api: Api,
    path: String,
    compression: Compression,
    locking: Locking,
    /// The chunks that the last read or write of each workspace found, which the next write replaces.
    chunks: Mutex<BTreeMap<String, String>>,
    /// The locks of this process, by the ID of their first session.
    live: Mutex<BTreeMap<String, LiveLock>>,
    /// The parts of this process in the sessions of shared runs, by workspace.
    shared: Mutex<BTreeMap<String, SharedSession>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Locking {
    On,
    Off,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    Ok(Arc::new(ConsulStore {
        api: settings::api(settings, host)?,
        path: settings.required("path").to_owned(),
        compression: if settings.flag("gzip") { Compression::Gzip } else { Compression::None },
        locking: if settings.flag("lock") { Locking::On } else { Locking::Off },
        chunks: Mutex::default(),
        live: Mutex::default(),
        shared: Mutex::default(),
    }))
}

impl ConsulStore {
    fn key(&self, workspace: &str) -> String {
        match workspace {
            DEFAULT_WORKSPACE => self.path.clone(),
            name => format!("{}{name}", self.prefix()),
        }
    }

    /// The common beginning of the keys of all workspaces but the default one.
    fn prefix(&self) -> String {
        format!("{}-env:", self.path)
    }

    async fn list(&self) -> Result<Vec<String>, StoreError> {
        let prefix = self.prefix();
        let keys = self.api.keys(&prefix).await?;
        let names = keys.iter().filter_map(|key| key.strip_prefix(&prefix));
        // Keys with a slash are locks and chunks.
        Ok(names.filter(|name| !name.is_empty() && !name.contains('/')).map(str::to_owned).collect())
    }

    async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        let key = self.key(workspace);
        // A writer may replace the chunks between the read of their list and theirs.
        const ATTEMPTS: u32 = 3;
        for attempt in 1..=ATTEMPTS {
            let Some(entry) = self.api.get(&key).await? else { return Ok(None) };
            let version = Version(entry.modify_index.to_string());
            let stored = Stored::parse(entry.value);
            self.remember(workspace, stored.hash());
            let payload = match &stored {
                Stored::Whole(bytes) => bytes.clone(),
                Stored::Chunked { chunks, .. } => match self.join(chunks).await? {
                    Some(bytes) => bytes,
                    None if attempt < ATTEMPTS => continue,
                    None => return Err(chunks::missing(&self.api.shown(&key))),
                },
            };
            let bytes = stored.unpack(payload, &self.api.shown(&key))?;
            return Ok(Some(Snapshot { bytes, version }));
        }
        Ok(None)
    }

    /// Reads all chunks; `None` if one is missing.
    async fn join(&self, chunks: &[String]) -> Result<Option<Vec<u8>>, StoreError> {
        let mut bytes = Vec::new();
        for chunk in chunks {
            let Some(entry) = self.api.get(chunk).await? else { return Ok(None) };
            bytes.extend(entry.value);
        }
        Ok(Some(bytes))
    }

    fn remember(&self, workspace: &str, hash: Option<&str>) -> Option<String> {
        let mut known = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        match hash {
            Some(hash) => known.insert(workspace.to_owned(), hash.to_owned()),
            None => known.remove(workspace),
        }
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let key = self.key(workspace);
        if let Some(lock) = write.lock {
            self.check_lock(workspace, &lock.id)?;
        }
        let payload = Payload::new(write.bytes, self.compression);
        // First as one value, because only the server knows its limit.
        let committed = self.commit(&key, &payload.bytes, &write.expected).await?;
        let (index, hash) = match committed {
            Committed::At(index) => (index, None),
            Committed::TooLarge => (self.put_chunks(&key, &payload, &write.expected).await?, Some(&*payload.hash)),
        };
        let old = self.remember(workspace, hash);
        if let Some(old) = old.filter(|old| Some(&**old) != hash) {
            // The state is complete without them, so that a failure only leaves garbage.
            let _ = self.api.delete_tree(&chunks::folder(&key, &old)).await;
        }
        Ok(Version(index.to_string()))
    }

    async fn put_chunks(&self, key: &str, payload: &Payload, expected: &Expected) -> Result<u64, StoreError> {
        // The chunks before their list, so that no reader finds a list whose chunks are missing.
        let mut names = Vec::new();
        for (index, chunk) in payload.chunks().enumerate() {
            let name = format!("{}{index}", chunks::folder(key, &payload.hash));
            self.api.put(&name, chunk.to_vec()).await?;
            names.push(name);
        }
        let list = json!({"current-hash": payload.hash, "chunks": names}).to_string();
        match self.commit(key, list.as_bytes(), expected).await? {
            Committed::At(index) => Ok(index),
            Committed::TooLarge => Err(StoreError::TooLarge {
                location: self.api.shown(key),
                reason: "the server refuses even the list of its chunks".to_owned(),
            }),
        }
    }

    async fn commit(&self, key: &str, value: &[u8], expected: &Expected) -> Result<Committed, StoreError> {
        let value = STANDARD.encode(value);
        let operation = match expected {
            Expected::Any => json!({"Verb": "set", "Key": key, "Value": value}),
            // Index 0 means that the key must not exist.
            Expected::Absent => json!({"Verb": "cas", "Key": key, "Value": value, "Index": 0}),
            Expected::Version(Version(version)) => {
                // An unreadable version becomes 0, which never replaces an existing key.
                let index: u64 = version.parse().unwrap_or_default();
                json!({"Verb": "cas", "Key": key, "Value": value, "Index": index})
            }
        };
        self.api.transaction(key, &operation).await
    }

    async fn remove(&self, workspace: &str) -> Result<(), StoreError> {
        let key = self.key(workspace);
        let hash = match self.api.get(&key).await? {
            Some(entry) => Stored::parse(entry.value).hash().map(str::to_owned),
            None => None,
        };
        // The list first: chunks without it are garbage that no program reads.
        self.api.delete(&key).await?;
        if let Some(hash) = hash {
            self.api.delete_tree(&chunks::folder(&key, &hash)).await?;
        }
        Ok(())
    }

    /// Checks that this process has lost none of its locks.
    fn check_locks(&self, workspace: &str) -> Result<(), StoreError> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        match live.values().find_map(LiveLock::loss_reason) {
            Some(reason) => Err(StoreError::LockLost { location: self.api.shown(&self.key(workspace)), reason }),
            None => Ok(()),
        }
    }

    /// Checks that the session of a lock of this process is still alive.
    fn check_lock(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        match live.get(id).and_then(LiveLock::loss_reason) {
            Some(reason) => Err(StoreError::LockLost { location: self.api.shown(&self.key(workspace)), reason }),
            None => Ok(()),
        }
    }

    async fn take_lock(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let (held, live) = LiveLock::take(&self.api, &self.key(workspace), info).await?;
        self.live.lock().unwrap_or_else(PoisonError::into_inner).insert(held.id.clone(), live);
        Ok(held)
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        let key = self.key(workspace);
        match live {
            Some(live) => live.release(&self.api, &key).await,
            None => lock::force(&self.api, &key, id).await,
        }
    }
}

impl StateStore for ConsulStore {
    fn location(&self, workspace: &str) -> String {
        self.api.shown(&self.key(workspace))
    }

    fn restore_advice(&self) -> &'static str {
        "Restore the key from a snapshot of Consul (consul snapshot restore) or from another copy of the state."
    }

    fn can_lock(&self) -> bool {
        self.locking == Locking::On
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

    fn journals(&self) -> Option<&dyn JournalStore> {
        Some(self)
    }

    fn sharing(&self) -> Option<&dyn SharingStore> {
        Some(self)
    }
}
