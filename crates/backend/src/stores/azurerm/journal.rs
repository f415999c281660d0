//! The blobs of journals.

use super::AzureStore;
use super::blobs::{Condition, Metadata, Outcome};
use crate::error::StoreError;
use crate::store::SegmentCreated;
use crate::stores::object_store::ObjectStore;

impl ObjectStore for AzureStore {
    fn state_object(&self, workspace: &str) -> String {
        self.blob(workspace)
    }

    async fn create_object(&self, _: &str, name: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        match self.container.put(name, bytes, &Metadata::new(), None, Condition::Absent).await? {
            Outcome::Done(_) => Ok(SegmentCreated::Yes),
            Outcome::Refused(_) => Ok(SegmentCreated::Exists),
        }
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.container.get(name).await?.map(|(bytes, _)| bytes))
    }

    async fn list_objects(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.container.list(prefix).await
    }

    async fn delete_object(&self, name: &str) -> Result<(), StoreError> {
        self.container.delete(name, None, Condition::None).await.map(|_| ())
    }
}
