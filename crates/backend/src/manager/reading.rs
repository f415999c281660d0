//! Reading a state together with the names of its journals.
//!
//! A run whose lock has expired may write its results and delete its journal at any moment. A state that was read before its
//! journals were listed might lack results that no listed journal has, and their objects would be created again.

use std::time::Duration;

use super::backend::RemoteBackend;
use super::retry::repeated;
use crate::error::StoreError;
use crate::store::{JournalStore, JournalsAfter, NotedStateStore, Snapshot};

/// The names of all segments next to a state.
#[derive(Clone, Debug)]
pub(super) enum Listing {
    Names(Vec<String>),
    /// The identity of this run may not list them. The peers need no such right, so a configuration that works for them works
    /// without a journal in the store.
    Denied(StoreError),
}

/// The pauses between attempts to open a state that another run writes at the same time.
pub(super) fn opening_pauses() -> impl Iterator<Item = Duration> {
    [250, 500, 1000, 2000].into_iter().map(Duration::from_millis)
}

impl RemoteBackend {
    /// Reads a state, and lists its journals so that state and listing belong together. Stores without journals have no
    /// listing.
    ///
    /// # Errors
    /// The store fails, or another run writes the state at this moment ([`StoreError::Conflict`]).
    pub(super) fn read_with_journals(
        &self,
        workspace: &str,
    ) -> Result<(Option<Snapshot>, Option<Listing>), StoreError> {
        let Some(journals) = self.store().journals() else { return Ok((self.read(workspace)?, None)) };
        if let Some(states) = journals.noted_states() {
            return self.read_noted(states, journals, workspace);
        }
        let listing = self.list_journals(journals, workspace)?;
        Ok((self.read(workspace)?, Some(listing)))
    }

    /// Reads a state with its note, and lists its journals unless the note says that there are none.
    ///
    /// A listing counts if the state has the same version before and after it: then nobody has merged and deleted a journal
    /// in between.
    fn read_noted(
        &self,
        states: &dyn NotedStateStore,
        journals: &dyn JournalStore,
        workspace: &str,
    ) -> Result<(Option<Snapshot>, Option<Listing>), StoreError> {
        let found = self.block_on(states.read_noted(workspace))?;
        let is_closed = found.as_ref().is_some_and(|found| found.journals == JournalsAfter::Closed);
        let snapshot = found.map(|found| found.snapshot);
        if is_closed {
            return Ok((snapshot, Some(Listing::Names(Vec::new()))));
        }
        let listing = self.list_journals(journals, workspace)?;
        let current = repeated(self.clock(), || self.block_on(states.version(workspace)))?;
        if current.as_ref() != snapshot.as_ref().map(|snapshot| &snapshot.version) {
            return Err(StoreError::Conflict { location: self.location(workspace), found: current });
        }
        Ok((snapshot, Some(listing)))
    }

    /// Lists the journals of a state.
    pub(super) fn list_journals(&self, journals: &dyn JournalStore, workspace: &str) -> Result<Listing, StoreError> {
        match repeated(self.clock(), || self.block_on(journals.segments(workspace))) {
            Ok(names) => Ok(Listing::Names(names)),
            Err(problem @ StoreError::AccessDenied { .. }) => Ok(Listing::Denied(problem)),
            Err(problem) => Err(problem),
        }
    }
}
