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

/// A state as it was read.
pub(super) struct Reading {
    /// The stored state.
    pub found: Option<Snapshot>,
    /// The listing of its journals; none if the store keeps no journals.
    pub listing: Option<Listing>,
    /// What the read has found out about sharing.
    pub sharing: Sharing,
}

/// Whether runs share a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// They do not.
    Off,
    /// The sharing document decides.
    Possible,
}

/// The pauses between attempts to open a state that another run writes at the same time.
pub(super) fn opening_pauses() -> impl Iterator<Item = Duration> {
    [250, 500, 1000, 2000].into_iter().map(Duration::from_millis)
}

/// The journal on this machine that a run has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalJournal {
    None,
    /// Notes in the store may say how much of it another machine has merged.
    Left,
}

impl RemoteBackend {
    /// Returns the states with notes; `None` if the store has none.
    pub(super) fn noted_states(&self) -> Option<&dyn NotedStateStore> {
        self.store().journals()?.noted_states()
    }

    /// Reads a state, and lists its journals so that state and listing belong together. Stores without journals have no
    /// listing.
    ///
    /// # Errors
    /// The store fails, or another run writes the state at this moment ([`StoreError::Conflict`]).
    pub(super) fn read_with_journals(&self, workspace: &str, local: LocalJournal) -> Result<Reading, StoreError> {
        let sharing = Sharing::Possible;
        let Some(journals) = self.store().journals() else {
            return Ok(Reading { found: self.read(workspace)?, listing: None, sharing });
        };
        if let Some(states) = journals.noted_states() {
            return self.read_noted(states, workspace, local);
        }
        let listing = self.list_journals(journals, workspace)?;
        Ok(Reading { found: self.read(workspace)?, listing: Some(listing), sharing })
    }

    /// Reads a state with its note, and lists what accompanies it unless the note says that there is nothing.
    ///
    /// A listing counts if the state still has the version that was read: then nobody has merged and deleted a journal in between.
    fn read_noted(
        &self,
        states: &dyn NotedStateStore,
        workspace: &str,
        local: LocalJournal,
    ) -> Result<Reading, StoreError> {
        let noted = self.block_on(states.read_noted(workspace))?;
        let is_closed = noted.as_ref().is_some_and(|noted| noted.journals == JournalsAfter::Closed);
        let found = noted.map(|noted| noted.snapshot);
        if is_closed && local == LocalJournal::None {
            return Ok(Reading { found, listing: Some(Listing::Names(Vec::new())), sharing: Sharing::Off });
        }
        let companions = match repeated(self.clock(), || self.block_on(states.companions(workspace))) {
            Ok(companions) => companions,
            Err(problem @ StoreError::AccessDenied { .. }) => {
                return Ok(Reading { found, listing: Some(Listing::Denied(problem)), sharing: Sharing::Possible });
            }
            Err(problem) => return Err(problem),
        };
        if companions.version.as_ref() != found.as_ref().map(|found| &found.version) {
            return Err(StoreError::Conflict { location: self.location(workspace), found: companions.version });
        }
        let sharing = if companions.has_sharing { Sharing::Possible } else { Sharing::Off };
        Ok(Reading { found, listing: Some(Listing::Names(companions.segments)), sharing })
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
