//! Journals as objects beside the state.

use super::ABSENT;
use super::GcsStore;
use super::api::Outcome;
use crate::error::StoreError;
use crate::store::{JournalStore, SegmentCreated, StoreFuture, journal_folder};

impl GcsStore {
    fn segment(&self, workspace: &str, name: &str) -> String {
        format!("{}{name}", self.journal_folder(workspace))
    }

    fn journal_folder(&self, workspace: &str) -> String {
        journal_folder(&self.state(workspace))
    }

    async fn list_segments(&self, workspace: &str) -> Result<Vec<String>, StoreError> {
        let folder = self.journal_folder(workspace);
        let names = self.bucket.list_all(&folder).await?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(&folder)).map(str::to_owned).collect())
    }

    async fn put_segment(&self, object: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        match self.bucket.put(object, bytes, Some(ABSENT), Some(&self.encryption)).await? {
            Outcome::Done(_) => Ok(SegmentCreated::Yes),
            Outcome::Refused | Outcome::Missing => Ok(SegmentCreated::Exists),
        }
    }
}

impl JournalStore for GcsStore {
    fn segments<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(self.list_segments(workspace))
    }

    fn read_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let object = self.segment(workspace, name);
            Ok(self.bucket.get(&object, Some(&self.encryption)).await?.map(|object| object.bytes))
        })
    }

    fn create_segment<'a>(
        &'a self,
        workspace: &'a str,
        name: &'a str,
        bytes: &'a [u8],
    ) -> StoreFuture<'a, SegmentCreated> {
        Box::pin(async move { self.put_segment(&self.segment(workspace, name), bytes).await })
    }

    fn delete_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let object = self.segment(workspace, name);
            self.bucket.delete(&object, None).await.map(|_| ())
        })
    }
}
