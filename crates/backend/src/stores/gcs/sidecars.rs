//! The objects that accompany a state: journals, and the sharing document. Shared runs hold the lock object together.

use bytes::Bytes;

use super::api::Outcome;
use super::{ABSENT, GcsStore};
use crate::error::StoreError;
use crate::store::{Expected, SegmentCreated, SharingStore, Snapshot, StoreFuture, Version, Write, sharing_object};
use crate::stores::object_store::ObjectStore;

impl ObjectStore for GcsStore {
    fn state_object(&self, workspace: &str) -> String {
        self.state(workspace)
    }

    async fn create_object(&self, _: &str, name: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        match self.bucket.put(name, &Bytes::copy_from_slice(bytes), Some(ABSENT), Some(&self.encryption)).await? {
            Outcome::Done(_) => Ok(SegmentCreated::Yes),
            Outcome::Refused | Outcome::Missing => Ok(SegmentCreated::Exists),
        }
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.bucket.get(name, Some(&self.encryption)).await?.map(|object| object.bytes))
    }

    async fn list_objects(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.bucket.list_all(prefix).await
    }

    async fn delete_object(&self, name: &str) -> Result<(), StoreError> {
        self.bucket.delete(name, None).await.map(|_| ())
    }
}

impl SharingStore for GcsStore {
    fn read_sharing<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(async move {
            let object = sharing_object(&self.state(workspace));
            let found = self.bucket.get(&object, Some(&self.encryption)).await?;
            Ok(found.map(|object| Snapshot { bytes: object.bytes, version: Version(object.generation) }))
        })
    }

    fn write_sharing<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(async move {
            let object = sharing_object(&self.state(workspace));
            let generation = match &write.expected {
                Expected::Any => None,
                Expected::Absent => Some(ABSENT),
                Expected::Version(Version(generation)) => Some(&**generation),
            };
            match self.bucket.put(&object, write.bytes, generation, Some(&self.encryption)).await? {
                Outcome::Done(generation) => Ok(Version(generation)),
                Outcome::Refused | Outcome::Missing => {
                    Err(StoreError::Conflict { location: self.bucket.location(&object), found: None })
                }
            }
        })
    }
}
