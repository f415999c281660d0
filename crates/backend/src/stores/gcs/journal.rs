//! The objects of journals.

use super::ABSENT;
use super::GcsStore;
use super::api::Outcome;
use crate::error::StoreError;
use crate::store::SegmentCreated;
use crate::stores::object_store::ObjectStore;

impl ObjectStore for GcsStore {
    fn state_object(&self, workspace: &str) -> String {
        self.state(workspace)
    }

    async fn create_object(&self, _: &str, name: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        match self.bucket.put(name, bytes, Some(ABSENT), Some(&self.encryption)).await? {
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
