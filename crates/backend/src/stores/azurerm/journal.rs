//! Journals as objects beside the state.

use super::AzureStore;
use super::blobs::{Condition, Metadata, Outcome};
use crate::error::StoreError;
use crate::store::{JournalStore, SegmentCreated, StoreFuture, journal_folder};

impl AzureStore {
    fn segment(&self, workspace: &str, name: &str) -> String {
        format!("{}{name}", self.journal_folder(workspace))
    }

    fn journal_folder(&self, workspace: &str) -> String {
        journal_folder(&self.blob(workspace))
    }

    async fn list_segments(&self, workspace: &str) -> Result<Vec<String>, StoreError> {
        let folder = self.journal_folder(workspace);
        let names = self.container.list(&folder).await?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(&folder)).map(str::to_owned).collect())
    }

    async fn put_segment(&self, object: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        match self.container.put(object, bytes, &Metadata::new(), None, Condition::Absent).await? {
            Outcome::Done(_) => Ok(SegmentCreated::Yes),
            Outcome::Refused(_) => Ok(SegmentCreated::Exists),
        }
    }
}

impl JournalStore for AzureStore {
    fn segments<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(self.list_segments(workspace))
    }

    fn read_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let object = self.segment(workspace, name);
            Ok(self.container.get(&object).await?.map(|(bytes, _)| bytes))
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
            self.container.delete(&object, None, Condition::None).await.map(|_| ())
        })
    }
}
