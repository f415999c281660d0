//! Sharing documents as blobs next to the state, and one lease that all shared runs hold.

use sha2::{Digest, Sha256};

use super::AzureStore;
use super::blobs::{Condition, Metadata, Outcome};
use super::lock::Target;
use crate::error::StoreError;
use crate::lock_info::LockInfo;
use crate::store::{
    Expected, HeldLock, Leaving, SharedLockStore, SharingStore, Snapshot, StateStore, StoreFuture, Version, Write,
    sharing_object,
};

impl AzureStore {
    /// The name of the blob. With a slash in it, nobody takes it for the state of a workspace.
    fn sharing_blob(&self, workspace: &str) -> String {
        format!("{}/document", sharing_object(&self.blob(workspace)))
    }

    async fn put_sharing(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let blob = self.sharing_blob(workspace);
        let condition = match &write.expected {
            Expected::Any => Condition::None,
            Expected::Absent => Condition::Absent,
            Expected::Version(Version(etag)) => Condition::Matches(etag),
        };
        match self.container.put(&blob, write.bytes, &Metadata::new(), None, condition).await? {
            Outcome::Done(etag) => Ok(Version(etag)),
            Outcome::Refused(_) => Err(StoreError::Conflict { location: self.container.location(&blob), found: None }),
        }
    }

    /// Returns the ID of the lease of shared runs. It is the same for all of them: the service renews a lease that is acquired with its
    /// own ID.
    fn shared_lease(&self, workspace: &str) -> String {
        // From the location alone, so that all runs arrive at the same ID without a request.
        let digest = Sha256::digest(self.location(workspace).as_bytes());
        let hex: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }

    async fn take_shared(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let blob = self.blob(workspace);
        let id = self.shared_lease(workspace);
        let target = Target { container: &self.container, blob: &blob };
        // Only the first run writes the info: it would change the version of the state.
        if target.renew(&id).await.is_ok() && target.is_held_by(&id).await? {
            return Ok(HeldLock { id: id.clone(), info: LockInfo { id, ..info.clone() } });
        }
        let info = target.take(&LockInfo { id, ..info.clone() }).await?;
        Ok(HeldLock { id: info.id.clone(), info })
    }
}

impl SharingStore for AzureStore {
    fn read_sharing<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(async move {
            let found = self.container.get(&self.sharing_blob(workspace)).await?;
            Ok(found.map(|(bytes, properties)| Snapshot { bytes, version: Version(properties.etag) }))
        })
    }

    fn write_sharing<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(self.put_sharing(workspace, write))
    }

    fn shared_locks(&self) -> Option<&dyn SharedLockStore> {
        Some(self)
    }
}

impl SharedLockStore for AzureStore {
    fn lock_shared<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.take_shared(workspace, info))
    }

    fn unlock_shared<'a>(&'a self, workspace: &'a str, held: &'a HeldLock, leaving: Leaving) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            match leaving {
                // The others hold the same lease. It ends a minute after the last of them, however they end.
                Leaving::Others => Ok(()),
                Leaving::Last => self.unlock(workspace, &held.id).await,
            }
        })
    }
}
