//! A shared state in a command: planned over without a lock, and changed by a run that claims its records.

use std::sync::{Arc, PoisonError};

use groma_backend::Waiting;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::Cancellation;
use groma_state::{
    Begin, Claimed, Journal, LockRequest, Locking, OutdatedRecord, PlanRecords, PlanVersions, RecordDigests,
    RecoveredRun, Saved, SharedOptions, SharedRun, SharedState, SharedWait, State, StateError, StatePaths,
};

use super::super::context::Context;
use super::handle::LockWait;
use super::location::StateLocation;

/// A shared state, and the run of this command on it.
pub(in super::super) struct SharedHandle {
    shared: SharedState,
    options: SharedOptions,
    request: LockRequest,
    /// The run: none until a plan is carried out, unless it was taken over from a killed process.
    run: Option<Box<SharedRun>>,
    /// The records that planning has found.
    found: RecordDigests,
    serial: u64,
}

/// The state that a command plans with.
pub(in super::super) struct SharedOpened {
    pub handle: SharedHandle,
    pub state: State,
    pub in_flight: Vec<Begin>,
}

/// The command that opens a shared state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum SharedUse {
    /// It only plans.
    Plan,
    /// It carries a plan out, and takes over the runs of killed processes before.
    Change,
}

impl SharedHandle {
    /// Opens a state that runs share; `None` for any other.
    ///
    /// # Errors
    /// The state cannot be read, or the results of a killed run cannot be taken over.
    pub fn open(
        context: &Context,
        location: &StateLocation,
        locking: &Locking,
        cancellation: &Cancellation,
        usage: SharedUse,
    ) -> Result<Option<SharedOpened>, Diagnostics> {
        let failed = |problem: StateError| Diagnostics::from(problem.diagnostic());
        // Without the lock, a run is on its own. A backend that cannot share states has none that is shared.
        let (Locking::On(request), Ok(object)) = (locking, location.shared_object()) else { return Ok(None) };
        let options = location.shared_options(leave_report(context));
        let Some(shared) = SharedState::find(object, options.clone()).map_err(failed)? else { return Ok(None) };
        // This run holds the lock alone, and takes in what such a run has left.
        if usage == SharedUse::Change && shared.has_exclusive_journal().map_err(failed)? {
            return Ok(None);
        }
        let wait = LockWait { context, cancellation: Some(cancellation) };
        let keep_waiting = || wait.keep_waiting();
        let wait = SharedWait { timeout: request.timeout, keep_waiting: &keep_waiting };
        let recovered = match usage {
            SharedUse::Plan => {
                context.show(&interrupted(&shared.ended_runs().map_err(failed)?));
                None
            }
            SharedUse::Change => {
                shared.recover(request, &wait, &mut |warnings| context.show(&warnings)).map_err(failed)?
            }
        };
        let (run, state, in_flight) = match recovered {
            Some(RecoveredRun { run, opened }) => (Some(run), opened.state, opened.in_flight),
            None => (None, Some(shared.read().map_err(failed)?), Vec::new()),
        };
        let state = state.unwrap_or_default();
        let (found, serial) = (RecordDigests::of(&state), state.serial);
        let handle = Self { shared, options, request: request.clone(), run, found, serial };
        Ok(Some(SharedOpened { handle, state, in_flight }))
    }

    /// Returns the versions of a plan's records that planning has found.
    pub fn versions(&self, records: PlanRecords) -> PlanVersions {
        PlanVersions::new(records, &self.found, self.serial)
    }

    /// Claims the records of a plan, and brings its prior state up to the stored one. Returns the records that have changed since
    /// planning; then nothing is claimed.
    ///
    /// # Errors
    /// Other runs change these records, another program holds the lock of the state, or the store fails.
    pub fn claim(
        &mut self,
        context: &Context,
        cancellation: &Cancellation,
        versions: &PlanVersions,
        prior: &mut State,
    ) -> Result<Vec<OutdatedRecord>, StateError> {
        let wait = LockWait { context, cancellation: Some(cancellation) };
        let keep_waiting = || wait.keep_waiting();
        let wait = SharedWait { timeout: self.request.timeout, keep_waiting: &keep_waiting };
        if let Some(run) = &mut self.run {
            return run.claim(&self.shared, versions, prior, &wait);
        }
        match self.shared.begin(versions, prior, &self.request, &wait)? {
            Claimed::Current(run) => {
                self.run = Some(run);
                Ok(Vec::new())
            }
            Claimed::Outdated(records) => Ok(records),
        }
    }

    /// Returns the files of the run, with the encryption and the backup of the state.
    pub fn paths(&self) -> &StatePaths {
        self.run.as_ref().map_or(&self.options.paths, |run| run.paths())
    }

    /// Returns the location of the state for messages.
    pub fn location(&self) -> String {
        self.shared.location()
    }

    /// Begins the changes of the run.
    pub fn begin_run(&mut self, state: &mut State) -> Result<Arc<Journal>, StateError> {
        self.run()?.begin_run(state)
    }

    /// Merges the results of the run into the state, and leaves the run.
    pub fn save(&mut self, state: &mut State) -> Result<Saved, StateError> {
        self.run()?.save(state)
    }

    fn run(&mut self) -> Result<&mut SharedRun, StateError> {
        let (location, run) = (self.shared.location(), &mut self.run);
        run.as_deref_mut().ok_or_else(|| StateError::unclaimed(&location))
    }

    /// Returns the reason why the store has no copy of the journal, if it refuses one.
    pub fn journal_refusal(&self) -> Option<StateError> {
        self.run.as_ref()?.journal_refusal()
    }

    /// Whether the journal has every result of the run.
    pub fn is_in_journal(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.is_in_journal())
    }
}

/// Returns the receiver of problems with leaving a run, which the end of the command shows.
fn leave_report(context: &Context) -> groma_state::LeaveReport {
    let unreleased = context.unreleased();
    Arc::new(move |problem| {
        let detail = format!(
            "{}: {}\n\nThe results of this run are written. Its claims expire within two minutes. Terraform and OpenTofu may find the state \
             locked until another run releases the lock.",
            problem.summary, problem.detail
        );
        let diagnostic = Diagnostic::error("Error leaving the shared state", detail);
        unreleased.lock().unwrap_or_else(PoisonError::into_inner).push(diagnostic);
    })
}

fn interrupted(runs: &[String]) -> Diagnostics {
    if runs.is_empty() {
        return Diagnostics::new();
    }
    let list: Vec<String> = runs.iter().map(|run| format!("  - {run}")).collect();
    let detail = format!(
        "These runs on the shared state were interrupted:\n{}\n\nThe next apply recovers their results before it plans. Until then \
         objects that they have changed may be missing from the output.",
        list.join("\n")
    );
    Diagnostic::warning("Unfinished operations of an interrupted run", detail).into()
}
