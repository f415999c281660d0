//! The objects of journals.

use super::OciStore;
use super::objects::{Condition, Outcome};
use crate::error::StoreError;
use crate::store::SegmentCreated;
use crate::stores::object_store::ObjectStore;

impl ObjectStore for OciStore {
    fn state_object(&self, workspace: &str) -> String {
        self.object(workspace)
    }

    async fn create_object(&self, _: &str, name: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        match self.bucket.put(name, bytes, Condition::Absent).await? {
            Outcome::Done(_) => Ok(SegmentCreated::Yes),
            Outcome::Refused | Outcome::Missing => Ok(SegmentCreated::Exists),
        }
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.bucket.get(name).await?.map(|object| object.bytes))
    }

    async fn list_objects(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.bucket.list(prefix).await
    }

    async fn delete_object(&self, name: &str) -> Result<(), StoreError> {
        self.bucket.delete(name, Condition::None).await.map(|_| ())
    }
}
