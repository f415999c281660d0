//! The objects that accompany a state: journals, and the sharing document. Shared runs hold the lock record together.

use super::S3Store;
use super::objects::{Condition, Outcome};
use super::state_note::{is_merge_note, split_first};
use crate::error::StoreError;
use crate::store::{
    Companions, Expected, NotedState, NotedStateStore, SegmentCreated, SharingStore, Snapshot, StoreFuture, Version,
    Write, sharing_object,
};
use crate::stores::object_store::{FOLDER, ObjectStore};

impl ObjectStore for S3Store {
    fn state_object(&self, workspace: &str) -> String {
        self.key(workspace)
    }

    fn noted_states(&self) -> Option<&dyn NotedStateStore> {
        Some(self)
    }

    async fn create_object(&self, workspace: &str, name: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        let run = name.rsplit('/').nth(1).unwrap_or_default();
        // The note is changed first, so that a killed run leaves no note that denies its segment.
        if !is_merge_note(name) {
            self.open_journal(&self.key(workspace), run).await?;
        }
        match self.objects.put(name, bytes, &self.state_tags, Condition::Absent).await? {
            Outcome::Done(_) => Ok(SegmentCreated::Yes),
            Outcome::Refused => Ok(SegmentCreated::Exists),
        }
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.objects.get(name).await?.map(|object| object.bytes))
    }

    async fn list_objects(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let (mut names, mut next) = (Vec::new(), None);
        loop {
            let page = self.objects.list(prefix, None, next.as_deref()).await?;
            names.extend(page.objects.into_iter().map(|object| object.key));
            next = page.next;
            if next.is_none() {
                return Ok(self.notes.unmerged(state_key(prefix), prefix, names));
            }
        }
    }

    async fn delete_object(&self, name: &str) -> Result<(), StoreError> {
        self.objects.delete(name, Condition::None).await.map(|_| ())
    }

    async fn delete_objects(&self, names: &[String]) -> Result<(), StoreError> {
        let key = names.first().map(|name| state_key(name)).unwrap_or_default();
        let (first, later) = split_first([self.notes.leftovers(key), names.to_vec()].concat());
        let last = if later.is_empty() {
            first
        } else {
            self.objects.delete_all(&first).await?;
            later
        };
        self.notes.forget_leftovers(key);
        // The state says that it contains these journals, so one request deletes them and the lock at the end. A run that is killed
        // before leaves objects that the next one skips and deletes.
        if self.notes.is_closed(key) && self.has_lock_file(key) {
            self.retire(key, last);
            return Ok(());
        }
        self.objects.delete_all(&last).await
    }
}

/// Returns the key of the state that the object of a journal belongs to.
fn state_key(object: &str) -> &str {
    object.rsplit_once(FOLDER).map_or(object, |(key, _)| key)
}

impl NotedStateStore for S3Store {
    fn read_noted<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<NotedState>> {
        Box::pin(self.fetch(workspace))
    }

    fn companions<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Companions> {
        Box::pin(self.list_companions(workspace))
    }
}

impl SharingStore for S3Store {
    fn read_sharing<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(async move {
            self.check_account().await?;
            let found = self.objects.get(&sharing_object(&self.key(workspace))).await?;
            Ok(found.map(|object| Snapshot { bytes: object.bytes, version: Version(object.version) }))
        })
    }

    fn write_sharing<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(async move {
            let object = sharing_object(&self.key(workspace));
            let condition = match &write.expected {
                Expected::Any => Condition::None,
                Expected::Absent => Condition::Absent,
                Expected::Version(Version(etag)) => Condition::Matches(etag),
            };
            match self.objects.put(&object, write.bytes, &self.state_tags, condition).await? {
                Outcome::Done(etag) => Ok(Version(etag)),
                Outcome::Refused => Err(StoreError::Conflict { location: self.objects.location(&object), found: None }),
            }
        })
    }
}
