//! Sharing documents as objects beside the state. Runs hold the lock record together.

use super::S3Store;
use super::objects::{Condition, Outcome};
use crate::error::StoreError;
use crate::store::{Expected, SharingStore, Snapshot, StoreFuture, Version, Write, sharing_object};

impl S3Store {
    async fn put_sharing(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
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
        Box::pin(self.put_sharing(workspace, write))
    }
}
