//! Sharing documents as objects beside the state. Runs hold the lock object together.

use super::api::Outcome;
use super::{ABSENT, GcsStore};
use crate::error::StoreError;
use crate::store::{Expected, SharingStore, Snapshot, StoreFuture, Version, Write, sharing_object};

impl GcsStore {
    async fn put_sharing(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
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
        Box::pin(self.put_sharing(workspace, write))
    }
}
