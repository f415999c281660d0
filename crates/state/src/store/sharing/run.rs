//! The run of this process on a shared state.

use std::sync::Arc;

use super::merging_object::MergingObject;
use super::object::SharedWait;
use super::record::{OutdatedRecord, OwnRecords, PlanVersions};
use super::state::{Entered, LeaveReport, SharedState};
use crate::error::{StateError, StateErrorKind};
use crate::journal::Journal;
use crate::model::State;
use crate::store::local::Saved;
use crate::store::paths::StatePaths;
use crate::store::remote::RemoteState;

/// A run of this process on a shared state, with the records that it claims: the counterpart of [`crate::LocalStore`] and
/// [`RemoteState`].
///
/// [`SharedRun::save`] merges the results into the stored state and leaves the run. Dropping it before leaves the run to the next
/// one, if its journal has results.
pub struct SharedRun {
    /// None once the run was left.
    state: Option<RemoteState>,
    merging: Arc<MergingObject>,
    entered: Option<Entered>,
    report: LeaveReport,
    paths: StatePaths,
}

impl SharedRun {
    pub(super) fn new(shared: &SharedState, entered: Entered, state: RemoteState, merging: Arc<MergingObject>) -> Self {
        let paths = state.paths().clone();
        let report = Arc::clone(&shared.options.report);
        Self { state: Some(state), merging, entered: Some(entered), report, paths }
    }

    /// Claims more records, for a plan that this run has made after it was taken over. Returns the records that have changed since
    /// planning.
    ///
    /// # Errors
    /// As for [`SharedState::begin`].
    pub fn claim(
        &mut self,
        shared: &SharedState,
        versions: &PlanVersions,
        planned: &mut State,
        wait: &SharedWait<'_>,
    ) -> Result<Vec<OutdatedRecord>, StateError> {
        let Some(remote) = &mut self.state else { return Err(left_already()) };
        let claims = self.merging.membership.claim(&versions.changed, wait)?;
        // A write in the background would merge what it began with into the state from which the run starts again.
        remote.end_persisting()?;
        let own = OwnRecords { claims, written: self.merging.written() };
        let current = shared.read_claimed(&self.merging.membership)?;
        let outdated = shared.rebase_if_current(&current.state, versions, planned, Some(&own))?;
        if outdated.is_empty() {
            remote.restart(&current.state);
            self.merging.restart(current);
        }
        Ok(outdated)
    }

    /// Returns the files of this run on this machine, with the encryption and the backup of the state.
    pub fn paths(&self) -> &StatePaths {
        self.state.as_ref().map_or(&self.paths, RemoteState::paths)
    }

    /// Returns the location of the state for messages.
    pub fn location(&self) -> String {
        self.merging.membership.object.location()
    }

    /// Begins the changes of the run: from here on the journal records provider calls.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn begin_run(&mut self, state: &mut State) -> Result<Arc<Journal>, StateError> {
        let Some(remote) = &mut self.state else { return Err(left_already()) };
        // Before the first write, this is what is stored; after it, what other runs have written is no change of this one.
        let journal = self.merging.with_base(|stored| remote.begin_run_over(stored, state))?;
        let stopped = journal.clone();
        self.merging.membership.on_loss(move |problem| stopped.stop(problem.clone()));
        Ok(journal)
    }

    /// Merges the results into the stored state, and leaves the run.
    ///
    /// # Errors
    /// Another process has taken the run over, or the store fails. The journal then has the results.
    pub fn save(&mut self, state: &mut State) -> Result<Saved, StateError> {
        let Some(remote) = &mut self.state else { return Err(left_already()) };
        let saved = remote.save(state)?;
        self.leave();
        Ok(saved)
    }

    /// Leaves the run; leaves it to the next one if its journal is needed still.
    pub(super) fn leave(&mut self) {
        let Some(mut entered) = self.entered.take() else { return };
        entered.end_renewal();
        let has_results = self.state.as_ref().is_some_and(RemoteState::has_journal);
        // Sends the rest of a journal that stays.
        self.state = None;
        let merged = self.merging.merged();
        let left = match has_results {
            true => entered.membership.abandon(),
            false => entered.membership.leave(merged.serial, merged.records),
        };
        match left {
            Ok(()) if !has_results => entered.folder.remove(),
            Ok(()) => {}
            Err(problem) => (self.report)(&problem),
        }
    }

    /// Ends the process of the run: its lock on this machine ends, and nothing is written any more.
    #[cfg(test)]
    pub(super) fn kill(&mut self) {
        self.entered = None;
    }

    /// Returns the reason why the store has no copy of the journal, if it refuses one.
    pub fn journal_refusal(&self) -> Option<StateError> {
        self.state.as_ref()?.journal_refusal()
    }

    /// Whether the journal has every result of the run.
    pub fn is_in_journal(&self) -> bool {
        self.state.as_ref().is_some_and(RemoteState::is_in_journal)
    }

    /// Moves the deadlines of the run, where the caller does that: see [`Replicating::Caller`].
    ///
    /// # Errors
    /// The run is lost, or the store fails.
    pub fn renew(&self) -> Result<(), StateError> {
        self.merging.membership.renew()
    }

    /// Copies the journal to the store now, where the caller does that.
    pub fn replicate(&mut self) {
        self.state.iter_mut().for_each(RemoteState::replicate);
    }

    /// Whether the store does not have everything in the journal.
    pub fn is_journal_behind(&self) -> bool {
        self.state.as_ref().is_none_or(RemoteState::is_journal_behind)
    }
}

impl Drop for SharedRun {
    fn drop(&mut self) {
        self.leave();
    }
}

fn left_already() -> StateError {
    StateError::new(StateErrorKind::Io, "The shared run has ended", "Its results are written already.")
}
