//! Journals of stores with named objects: each segment is an object next to the state.

use std::future::Future;

use crate::error::StoreError;
use crate::store::{JournalStore, NotedStateStore, SegmentCreated, StoreFuture};

/// The operations on objects that journals need. Implementing it makes a store a [`JournalStore`].
///
/// Names may contain slashes; a store whose names may not (a Kubernetes secret, for example) maps them. None of the objects
/// may look like a state or a lock to Terraform and OpenTofu.
pub(super) trait ObjectStore: Send + Sync {
    /// Returns the name of a workspace's state, which is the beginning of the names of its segments.
    fn state_object(&self, workspace: &str) -> String;

    /// Returns the states with notes in their metadata; `None` if the store keeps no such notes.
    fn noted_states(&self) -> Option<&dyn NotedStateStore> {
        None
    }

    /// Creates an object, unless there is one of this name, whatever its content is.
    fn create_object(
        &self,
        workspace: &str,
        name: &str,
        bytes: &[u8],
    ) -> impl Future<Output = Result<SegmentCreated, StoreError>> + Send;

    /// Reads an object; `None` if it does not exist.
    fn read_object(&self, name: &str) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>> + Send;

    /// Lists the names of all objects that begin with `prefix`, in no particular order.
    fn list_objects(&self, prefix: &str) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send;

    /// Deletes an object. A missing one is not an error.
    fn delete_object(&self, name: &str) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Deletes the objects of segments in this order, or with as few requests as the service and the rule of
    /// [`JournalStore::delete_segments`] allow. A missing one is not an error.
    fn delete_objects(&self, names: &[String]) -> impl Future<Output = Result<(), StoreError>> + Send {
        async move {
            for name in names {
                self.delete_object(name).await?;
            }
            Ok(())
        }
    }

    /// Returns the largest number of bytes in an object that is created.
    fn largest_object(&self) -> usize {
        4 << 20
    }
}

/// The part of the name of a segment between the state and the run.
pub(super) const FOLDER: &str = ".groma-journal/";

/// Returns the folder of a workspace's journals.
fn folder(store: &impl ObjectStore, workspace: &str) -> String {
    format!("{}{FOLDER}", store.state_object(workspace))
}

impl<T: ObjectStore> JournalStore for T {
    fn segments<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move {
            let folder = folder(self, workspace);
            let names = self.list_objects(&folder).await?;
            Ok(names.iter().filter_map(|name| name.strip_prefix(&folder)).map(str::to_owned).collect())
        })
    }

    fn read_segment<'a>(&'a self, workspace: &'a str, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move { self.read_object(&format!("{}{name}", folder(self, workspace))).await })
    }

    fn create_segment<'a>(
        &'a self,
        workspace: &'a str,
        name: &'a str,
        bytes: &'a [u8],
    ) -> StoreFuture<'a, SegmentCreated> {
        Box::pin(async move {
            let object = format!("{}{name}", folder(self, workspace));
            self.create_object(workspace, &object, bytes).await
        })
    }

    fn delete_segments<'a>(&'a self, workspace: &'a str, names: &'a [String]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let folder = folder(self, workspace);
            let objects: Vec<String> = names.iter().map(|name| format!("{folder}{name}")).collect();
            self.delete_objects(&objects).await
        })
    }

    fn noted_states(&self) -> Option<&dyn NotedStateStore> {
        ObjectStore::noted_states(self)
    }

    fn longest_segment(&self) -> usize {
        self.largest_object()
    }
}
