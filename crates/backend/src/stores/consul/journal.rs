//! The keys of journals.

use super::ConsulStore;
use super::api::Committed;
use crate::error::StoreError;
use crate::store::{Expected, SegmentCreated};
use crate::stores::object_store::ObjectStore;

impl ObjectStore for ConsulStore {
    fn state_object(&self, workspace: &str) -> String {
        self.key(workspace)
    }

    async fn create_object(&self, workspace: &str, name: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        self.check_locks(workspace)?;
        match self.commit(name, bytes, &Expected::Absent).await {
            Ok(Committed::At(_)) => Ok(SegmentCreated::Yes),
            Ok(Committed::TooLarge) => Err(StoreError::TooLarge {
                location: self.api.shown(name),
                reason: "the server accepts only smaller values".to_owned(),
            }),
            Err(StoreError::Conflict { .. }) => Ok(SegmentCreated::Exists),
            Err(problem) => Err(problem),
        }
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.api.get(name).await?.map(|entry| entry.value))
    }

    async fn list_objects(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.api.tree(prefix).await
    }

    async fn delete_object(&self, name: &str) -> Result<(), StoreError> {
        self.api.delete(name).await
    }

    fn largest_object(&self) -> usize {
        // A value has at most 512 KiB, and is encoded in the request.
        256 << 10
    }
}
