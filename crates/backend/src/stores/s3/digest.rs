//! Digests of states in the DynamoDB table.

use super::S3Store;
use super::lock::Target;
use super::table::Table;
use crate::error::StoreError;
use crate::store::{NotedState, Snapshot, Version};
use crate::stores::digests::{Digest, DigestNames, DigestedState, Object, read_checked};
use crate::stores::lock_table::digest_key;

/// A state with its digest.
struct Digested<'a> {
    store: &'a S3Store,
    table: &'a Table,
    key: &'a str,
}

impl Digested<'_> {
    /// The name of the state in the table.
    fn path(&self) -> String {
        Target { objects: &self.store.objects, key: self.key }.path()
    }
}

impl DigestedState for Digested<'_> {
    async fn read(&self) -> Result<Option<Object>, StoreError> {
        self.store.objects.get(self.key).await
    }

    async fn recorded(&self) -> Result<Option<Digest>, StoreError> {
        self.table.digest(&self.path()).await
    }

    async fn replace(&self, old: &Digest, new: &Digest) -> Result<(), StoreError> {
        self.table.replace_digest(&self.path(), old, new).await
    }

    fn is_locked_here(&self) -> bool {
        self.store.has_locked(self.key)
    }

    fn names(&self) -> DigestNames {
        DigestNames {
            service: "S3",
            location: self.store.objects.location(self.key),
            table: self.table.name().to_owned(),
            item: digest_key(&self.path()),
        }
    }
}

impl S3Store {
    /// Reads a state with its note, and checks it against its digest.
    pub(super) async fn fetch(&self, workspace: &str) -> Result<Option<NotedState>, StoreError> {
        self.check_account().await?;
        let key = self.key(workspace);
        let found = match &self.locks.table {
            Some(table) => read_checked(&Digested { store: self, table, key: &key }).await?,
            None => self.objects.get(&key).await?,
        };
        let journals = self.notes.read(&key, found.as_ref());
        let snapshot = |object: Object| Snapshot { bytes: object.bytes, version: Version(object.version) };
        Ok(found.map(|object| NotedState { snapshot: snapshot(object), journals }))
    }

    /// Records the digest of a state that was written.
    pub(super) async fn record_digest(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let Some(table) = &self.locks.table else { return Ok(()) };
        let path = Target { objects: &self.objects, key }.path();
        table.put_digest(&path, &Digest::of(bytes)).await
    }
}
