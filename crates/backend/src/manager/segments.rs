//! The journals of one workspace in its store, as the state writes and reads them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use groma_state::{SegmentCreated, SegmentId, SegmentStore, StateError};

use super::backend::RemoteBackend;
use super::keeper::Keeper;
use super::object::state_error;
use super::reading::Listing;
use super::retry::repeated;
use crate::error::StoreError;
use crate::store::JournalStore;

/// The journals of one workspace. Requests that fail on the network are repeated.
pub(super) struct Segments {
    pub backend: RemoteBackend,
    pub workspace: String,
    /// The lock of this run.
    keeper: Option<Arc<Keeper>>,
    /// The listing that was made together with reading the state.
    listing: Mutex<Option<Listing>>,
    /// The refusal to list the journals. Then this run must not write any: nobody would find them.
    refusal: OnceLock<StoreError>,
}

impl Segments {
    /// Returns the journals of a workspace; `None` if the store keeps none.
    pub fn new(
        backend: &RemoteBackend,
        workspace: &str,
        keeper: Option<Arc<Keeper>>,
        listing: Option<Listing>,
    ) -> Option<Self> {
        backend.store().journals()?;
        Some(Self {
            backend: backend.clone(),
            workspace: workspace.to_owned(),
            keeper,
            listing: Mutex::new(listing),
            refusal: OnceLock::new(),
        })
    }

    fn journals(&self) -> Result<&dyn JournalStore, StoreError> {
        self.backend.store().journals().ok_or_else(no_journals)
    }

    /// Repeats a request whose repetition changes nothing.
    fn repeated<T>(&self, request: impl Fn(&dyn JournalStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let journals = self.journals()?;
        repeated(self.backend.clock(), || request(journals))
    }

    fn read_named(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.repeated(|journals| self.backend.block_on(journals.read_segment(&self.workspace, name)))
    }
}

fn no_journals() -> StoreError {
    StoreError::Unsupported { operation: "a journal".to_owned(), advice: String::new() }
}

impl SegmentStore for Segments {
    fn list(&self) -> Result<Vec<SegmentId>, StateError> {
        let listing = match self.listing.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(listing) => listing,
            None => {
                let journals = self.journals().map_err(|problem| state_error(&problem))?;
                let listed = self.backend.list_journals(journals, &self.workspace);
                listed.map_err(|problem| state_error(&problem))?
            }
        };
        let names = match listing {
            Listing::Names(names) => names,
            Listing::Denied(problem) => {
                self.refusal.get_or_init(|| problem);
                return Ok(Vec::new());
            }
        };
        // Other objects in the folder are not this program's.
        Ok(names.iter().filter_map(|name| SegmentId::parse(name)).collect())
    }

    fn read(&self, id: &SegmentId) -> Result<Option<Vec<u8>>, StateError> {
        self.read_named(&id.to_string()).map_err(|problem| state_error(&problem))
    }

    fn create(&self, id: &SegmentId, bytes: &[u8]) -> Result<SegmentCreated, StateError> {
        let name = id.to_string();
        if let Some(problem) = self.refusal.get() {
            return Err(state_error(problem));
        }
        let create = |journals: &dyn JournalStore| {
            match self.backend.block_on(journals.create_segment(&self.workspace, &name, bytes))? {
                SegmentCreated::Yes => Ok(SegmentCreated::Yes),
                // The answer to an earlier attempt was lost: the segment is this run's own.
                SegmentCreated::Exists if self.read_named(&name)?.as_deref() == Some(bytes) => Ok(SegmentCreated::Yes),
                SegmentCreated::Exists => Ok(SegmentCreated::Exists),
            }
        };
        let check = || self.keeper.as_ref().map_or(Ok(()), |keeper| keeper.check().map(drop));
        // Before, so that a run without its lock announces no calls; and after, because nobody may read a segment that a run
        // creates when another one has taken over the lock. One that takes it over later finds the segment.
        let created = check().and_then(|()| self.repeated(create));
        created.and_then(|created| check().map(|()| created)).map_err(|problem| state_error(&problem))
    }

    fn delete(&self, ids: &[SegmentId]) -> Result<(), StateError> {
        let names: Vec<String> = ids.iter().map(SegmentId::to_string).collect();
        let deleted =
            self.repeated(|journals| self.backend.block_on(journals.delete_segments(&self.workspace, &names)));
        deleted.map_err(|problem| state_error(&problem))
    }

    fn longest(&self) -> usize {
        self.backend.store().journals().map_or(0, JournalStore::longest_segment)
    }

    fn now(&self) -> SystemTime {
        self.backend.clock().now()
    }
}
