//! Journals as objects beside the state.

use super::S3Store;
use super::objects::{Condition, Outcome};
use crate::error::StoreError;
use crate::store::{JournalStore, SegmentCreated, StoreFuture, journal_folder};

impl S3Store {
    fn segment(&self, workspace: &str, name: &str) -> String {
        format!("{}{name}", self.journal_folder(workspace))
    }

    fn journal_folder(&self, workspace: &str) -> String {
        journal_folder(&self.key(workspace))
    }

    async fn list_segments(&self, workspace: &str) -> Result<Vec<String>, StoreError> {
        let folder = self.journal_folder(workspace);
        let (mut names, mut next) = (Vec::new(), None);
        loop {
            let page = self.objects.list(&folder, None, next.as_deref()).await?;
            names.extend(page.keys.iter().filter_map(|key| key.strip_prefix(&folder)).map(str::to_owned));
            next = page.next;
            if next.is_none() {
                return Ok(names);
            }
        }
    }

    async fn put_segment(&self, object: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        match self.objects.put(object, bytes, &self.state_tags, Condition::Absent).await? {
            Outcome::Done(_) => Ok(SegmentCreated::Yes),
            Outcome::Refused => Ok(SegmentCreated::Exists),
        }
    }
}

impl JournalStore for S3Store {
    fn segments<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(self.list_segments(workspace))
    }

    fn read_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let object = self.segment(workspace, name);
            Ok(self.objects.get(&object).await?.map(|object| object.bytes))
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
            self.objects.delete(&object, Condition::None).await.map(|_| ())
        })
    }
}
