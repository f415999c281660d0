//! The objects that accompany a state: journals, and the sharing document. Shared runs hold the lock record together.

use super::S3Store;
use super::objects::{Condition, Outcome};
use crate::error::StoreError;
use crate::store::{Expected, SegmentCreated, SharingStore, Snapshot, StoreFuture, Version, Write, sharing_object};
use crate::stores::object_store::{FOLDER, ObjectStore};

impl ObjectStore for S3Store {
    fn state_object(&self, workspace: &str) -> String {
        self.key(workspace)
    }

    fn has_no_journals(&self, workspace: &str, version: &Version) -> Option<bool> {
        Some(self.marks.is_closed(&self.key(workspace), version))
    }

    async fn create_object(&self, workspace: &str, name: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        let run = name.rsplit('/').nth(1).unwrap_or_default();
        // The note is removed first, so that a killed run leaves no note that denies its segment.
        self.open_journal(&self.key(workspace), run).await?;
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
            names.extend(page.keys);
            next = page.next;
            if next.is_none() {
                let key = prefix.split_once(FOLDER).map_or(prefix, |(key, _)| key);
                return Ok(self.marks.unmerged(key, prefix, names));
            }
        }
    }

    async fn delete_object(&self, name: &str) -> Result<(), StoreError> {
        self.objects.delete(name, Condition::None).await.map(|_| ())
    }

    async fn delete_objects(&self, names: &[String]) -> Result<(), StoreError> {
        self.objects.delete_all(names).await
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
