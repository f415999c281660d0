//! Journals as keys beside the state.

use super::ConsulStore;
use super::api::Committed;
use crate::error::StoreError;
use crate::store::Expected;
use crate::store::{JournalStore, SegmentCreated, StoreFuture, journal_folder};

impl ConsulStore {
    fn segment(&self, workspace: &str, name: &str) -> String {
        format!("{}{name}", self.journal_folder(workspace))
    }

    fn journal_folder(&self, workspace: &str) -> String {
        journal_folder(&self.key(workspace))
    }

    async fn list_segments(&self, workspace: &str) -> Result<Vec<String>, StoreError> {
        let folder = self.journal_folder(workspace);
        let names = self.api.tree(&folder).await?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(&folder)).map(str::to_owned).collect())
    }

    async fn put_segment(&self, object: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        match self.commit(object, bytes, &Expected::Absent).await {
            Ok(Committed::At(_)) => Ok(SegmentCreated::Yes),
            Ok(Committed::TooLarge) => Err(StoreError::TooLarge {
                location: self.api.shown(object),
                reason: "the server accepts only smaller values".to_owned(),
            }),
            Err(StoreError::Conflict { .. }) => Ok(SegmentCreated::Exists),
            Err(problem) => Err(problem),
        }
    }
}

impl JournalStore for ConsulStore {
    fn segments<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(self.list_segments(workspace))
    }

    fn read_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let object = self.segment(workspace, name);
            Ok(self.api.get(&object).await?.map(|entry| entry.value))
        })
    }

    fn create_segment<'a>(
        &'a self,
        workspace: &'a str,
        name: &'a str,
        bytes: &'a [u8],
    ) -> StoreFuture<'a, SegmentCreated> {
        Box::pin(async move {
            self.check_locks(workspace)?;
            self.put_segment(&self.segment(workspace, name), bytes).await
        })
    }

    fn delete_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let object = self.segment(workspace, name);
            self.api.delete(&object).await
        })
    }

    fn longest_segment(&self) -> usize {
        // A value has at most 512 KiB, and is encoded in the request.
        256 << 10
    }
}
