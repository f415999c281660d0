//! Shared runs: they claim the records that they change, and merge their results into the state.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::document::SharingDocument;
use super::errors::{OutdatedRecord, missing_state};
use super::folder::RunFolder;
use super::membership::{Membership, Renewal, new_identifier, read, update};
use super::merge::rebase;
use super::merging::{MergingObject, parse};
use super::object::{SharedObject, SharedWait, Versioned};
use super::record::{PlanVersions, RecordDigests};
use super::segments::RunOrigin;
use crate::error::{StateError, StateErrorKind};
use crate::file;
use crate::journal::Journal;
use crate::model::State;
use crate::store::local::{Opened, Saved};
use crate::store::lock::LockRequest;
use crate::store::paths::StatePaths;
use crate::store::remote::{Access, PersistIntervals, RemoteOptions, RemoteState, Replicating};
use crate::store::sealed::sealed;

/// Reports a run whose claims or whose part in the ordinary lock could not be released.
pub type LeaveReport = Arc<dyn Fn(&StateError) + Send + Sync>;

/// The settings of shared runs.
#[derive(Clone)]
pub struct SharedOptions {
    /// The encryption and the backup of the state, and the answer to a damaged journal.
    pub paths: StatePaths,
    /// The folder on this machine with the journals of runs.
    pub runs: PathBuf,
    /// The version of Terraform that written states name.
    pub terraform_version: String,
    /// The intervals of writes during a run; none if nothing is written before its end.
    pub persist_intervals: Option<PersistIntervals>,
    /// Whether background threads work for the run.
    pub replicating: Replicating,
    /// Reports a run that could not be left.
    pub report: LeaveReport,
}

/// A state that runs share: see [`SharedObject`].
///
/// Plans read it without a lock. A run begins with [`SharedState::begin`] once it has a plan: it claims the records that the plan
/// changes, and finds out whether those that the plan used are still the same. [`SharedState::recover`] comes first: it takes over
/// the runs of processes that have ended.
pub struct SharedState {
    object: Arc<dyn SharedObject>,
    options: SharedOptions,
}

/// The result of claiming the records of a plan.
pub enum Claimed {
    /// The records are claimed, and the plan is up to date.
    Current(Box<SharedRun>),
    /// Records that the plan used have changed. Nothing is claimed.
    Outdated(Vec<OutdatedRecord>),
}

/// A run that was taken over because the results of its calls are not known.
pub struct RecoveredRun {
    /// The run with its claims.
    pub run: Box<SharedRun>,
    /// Its state, with the calls in flight.
    pub opened: Opened,
}

impl SharedState {
    /// Returns the shared state in `object`; `None` if its runs do not share it.
    ///
    /// # Errors
    /// The store fails, or the document cannot be read.
    pub fn find(object: Arc<dyn SharedObject>, options: SharedOptions) -> Result<Option<Self>, StateError> {
        let found = read(&*object)?.filter(|(document, _)| document.enabled);
        Ok(found.map(|_| Self { object, options }))
    }

    /// Returns the location for messages.
    pub fn location(&self) -> String {
        self.object.location()
    }

    /// Reads the state as it is stored.
    ///
    /// # Errors
    /// The store fails, or its content is not a state.
    pub fn read(&self) -> Result<State, StateError> {
        parse(&self.options.paths, &self.object.location(), &self.read_stored()?.bytes)
    }

    fn read_stored(&self) -> Result<Versioned, StateError> {
        self.object.read_state()?.ok_or_else(|| missing_state(&self.object.location()))
    }

    /// Returns who began the runs whose processes have ended without leaving them.
    ///
    /// # Errors
    /// The store fails.
    pub fn ended_runs(&self) -> Result<Vec<String>, StateError> {
        let ended = self.ended()?;
        Ok(ended.into_iter().map(|(run, _, who)| format!("{who} (run {run})")).collect())
    }

    /// The runs whose processes have ended, with the process and its user.
    fn ended(&self) -> Result<Vec<(String, String, String)>, StateError> {
        let Some((document, _)) = read(&*self.object)? else { return Ok(Vec::new()) };
        let now = self.object.now();
        let ended = document
            .runs
            .into_iter()
            .filter(|(run, entry)| entry.is_over(now) || RunFolder::has_ended(&self.options.runs, run));
        Ok(ended.map(|(run, entry)| (run, entry.process, entry.who)).collect())
    }

    /// Takes in the journals of runs on this machine that another machine has taken over meanwhile: it had only the part of them that
    /// was in the store.
    fn take_in_leftovers(&self, request: &LockRequest, wait: &SharedWait<'_>) -> Result<(), StateError> {
        let left = RunFolder::left(&self.options.runs);
        if left.is_empty() {
            return Ok(());
        }
        let known = read(&*self.object)?.map(|(document, _)| document.runs).unwrap_or_default();
        for run in left.into_iter().filter(|run| !known.contains_key(run)) {
            let Ok(folder) = RunFolder::enter(&self.options.runs, &run) else { continue };
            let membership = Arc::new(Membership::new(Arc::clone(&self.object), run, request));
            let entered = Entered { membership, folder, origin: RunOrigin::Ended };
            entered.membership.claim(&BTreeSet::new(), wait)?;
            let (mut run, _) = self.resume(entered, wait)?;
            run.leave();
        }
        Ok(())
    }

    /// Takes over the runs of processes that have ended, and writes the results in their journals. Returns the first run with calls
    /// whose results are not known: only a plan can ask for them. `warn` gets the warnings about recovered results.
    ///
    /// # Errors
    /// A program that does not share the state holds its lock, a journal is damaged, or the store fails.
    pub fn recover(
        &self,
        request: &LockRequest,
        wait: &SharedWait<'_>,
        warn: &mut dyn FnMut(groma_diagnostics::Diagnostics),
    ) -> Result<Option<RecoveredRun>, StateError> {
        self.take_in_leftovers(request, wait)?;
        for (run, process, _) in self.ended()? {
            let Some((mut run, mut opened)) = self.take_over(&run, &process, request, wait)? else { continue };
            warn(std::mem::take(&mut opened.warnings));
            if !opened.in_flight.is_empty() {
                return Ok(Some(RecoveredRun { run: Box::new(run), opened }));
            }
            run.leave();
        }
        Ok(None)
    }

    fn take_over(
        &self,
        run: &str,
        process: &str,
        request: &LockRequest,
        wait: &SharedWait<'_>,
    ) -> Result<Option<(SharedRun, Opened)>, StateError> {
        let folder = match RunFolder::enter(&self.options.runs, run) {
            // Another process of this machine takes it over at this moment.
            Err(problem) if problem.kind == StateErrorKind::Locked => return Ok(None),
            folder => folder?,
        };
        let membership = Membership::new(Arc::clone(&self.object), run.to_owned(), request);
        if !membership.take_over(process)? {
            return Ok(None);
        }
        self.resume(Entered { membership: Arc::new(membership), folder, origin: RunOrigin::Ended }, wait).map(Some)
    }

    /// Goes on with an entered run of an ended process: writes the results in its journal.
    fn resume(&self, entered: Entered, wait: &SharedWait<'_>) -> Result<(SharedRun, Opened), StateError> {
        let opened = entered
            .membership
            .hold_lock(wait)
            .and_then(|()| self.fence())
            .and_then(|stored| self.open(&entered, stored));
        match opened {
            Ok((state, merging, opened)) => Ok((SharedRun::new(self, entered, state, merging), opened)),
            Err(problem) => {
                // The results stay for a later attempt.
                let _ = entered.membership.abandon();
                Err(problem)
            }
        }
    }

    /// Writes the state unchanged under the next serial, so that a process that was taken over cannot write the version that it has
    /// read.
    fn fence(&self) -> Result<Versioned, StateError> {
        loop {
            let stored = self.read_stored()?;
            let mut state = parse(&self.options.paths, &self.object.location(), &stored.bytes)?;
            state.serial = state.serial.saturating_add(1);
            let bytes = Bytes::from(sealed(self.options.paths.encryption.as_deref(), file::write(&state))?);
            match self.object.write_state(&bytes, &stored.version) {
                Ok(version) => return Ok(Versioned { bytes, version }),
                Err(problem) if problem.kind == StateErrorKind::Changed => {}
                Err(problem) => return Err(problem),
            }
        }
    }

    /// Claims the records of a plan, waits for runs that change them, and brings the planned state up to the stored one.
    ///
    /// # Errors
    /// Other runs still change the records in the end, a program that does not share the state holds its lock, or the store fails.
    pub fn begin(
        &self,
        versions: &PlanVersions,
        planned: &mut State,
        request: &LockRequest,
        wait: &SharedWait<'_>,
    ) -> Result<Claimed, StateError> {
        let run = new_identifier(&*self.object);
        let folder = RunFolder::enter(&self.options.runs, &run)?;
        let membership = Arc::new(Membership::new(Arc::clone(&self.object), run, request));
        let entered = Entered { membership, folder, origin: RunOrigin::Own };
        let begun = entered
            .membership
            .claim(&versions.changed, wait)
            .and_then(|()| self.enter(&entered, versions, planned, wait));
        match begun {
            Ok(Begun::Current(state, merging)) => {
                Ok(Claimed::Current(Box::new(SharedRun::new(self, entered, *state, merging))))
            }
            Ok(Begun::Outdated(records)) => {
                entered.withdraw()?;
                Ok(Claimed::Outdated(records))
            }
            Err(problem) => {
                // The first problem is the one to report; claims end by themselves.
                let _ = entered.withdraw();
                Err(problem)
            }
        }
    }

    fn enter(
        &self,
        entered: &Entered,
        versions: &PlanVersions,
        planned: &mut State,
        wait: &SharedWait<'_>,
    ) -> Result<Begun, StateError> {
        entered.membership.hold_lock(wait)?;
        let stored = self.read_stored()?;
        let outdated = self.bring_up(&stored, versions, planned)?;
        if !outdated.is_empty() {
            return Ok(Begun::Outdated(outdated));
        }
        let (state, merging, _) = self.open(entered, stored)?;
        Ok(Begun::Current(Box::new(state), merging))
    }

    /// Compares the stored records with those of the plan. If none has changed, the planned state becomes one over the stored state.
    fn bring_up(
        &self,
        stored: &Versioned,
        versions: &PlanVersions,
        planned: &mut State,
    ) -> Result<Vec<OutdatedRecord>, StateError> {
        let current = parse(&self.options.paths, &self.object.location(), &stored.bytes)?;
        let outdated = versions.outdated(&RecordDigests::of(&current));
        if !outdated.is_empty() {
            let document = read(&*self.object)?.map(|(document, _)| document).unwrap_or_default();
            return Ok(OutdatedRecord::found(outdated, &document, versions.serial));
        }
        if current.serial != versions.serial {
            rebase(planned, &current, |record| versions.has(record));
        }
        planned.lineage.clone_from(&current.lineage);
        Ok(Vec::new())
    }

    fn open(
        &self,
        entered: &Entered,
        stored: Versioned,
    ) -> Result<(RemoteState, Arc<MergingObject>, Opened), StateError> {
        let SharedOptions { paths, terraform_version, persist_intervals, replicating, .. } = self.options.clone();
        let paths = StatePaths {
            read: entered.folder.state_path(),
            write: entered.folder.state_path(),
            backup: paths.backup,
            encryption: paths.encryption,
            damaged_journal: paths.damaged_journal,
        };
        let bytes = stored.bytes.to_vec();
        let merging = MergingObject::new(Arc::clone(&entered.membership), paths.clone(), entered.origin, stored)?;
        let merging = Arc::new(merging);
        // The run and its journal belong to this process alone.
        let access = Access::Exclusive;
        let options = RemoteOptions { paths, terraform_version, access, persist_intervals, replicating };
        let (state, opened) = RemoteState::open(merging.clone(), Some(bytes), options)?;
        Ok((state, merging, opened))
    }
}

enum Begun {
    Current(Box<RemoteState>, Arc<MergingObject>),
    Outdated(Vec<OutdatedRecord>),
}

/// A run that this process has entered in the document.
struct Entered {
    membership: Arc<Membership>,
    folder: RunFolder,
    origin: RunOrigin,
}

impl Entered {
    /// Leaves a run that has changed nothing.
    fn withdraw(self) -> Result<(), StateError> {
        let left = self.membership.leave(0, Default::default());
        self.folder.remove();
        left
    }
}

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
    renewal: Option<Renewal>,
    report: LeaveReport,
    paths: StatePaths,
}

impl SharedRun {
    fn new(shared: &SharedState, entered: Entered, state: RemoteState, merging: Arc<MergingObject>) -> Self {
        let renewal = match shared.options.replicating {
            Replicating::Background => Renewal::start(&entered.membership),
            Replicating::Caller => None,
        };
        let paths = state.paths().clone();
        let report = Arc::clone(&shared.options.report);
        Self { state: Some(state), merging, entered: Some(entered), renewal, report, paths }
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
        self.merging.membership.claim(&versions.changed, wait)?;
        let stored = shared.read_stored()?;
        let outdated = shared.bring_up(&stored, versions, planned)?;
        if outdated.is_empty() {
            self.merging.restart(stored)?;
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
        let journal = remote.begin_run(state)?;
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
    fn leave(&mut self) {
        let Some(entered) = self.entered.take() else { return };
        if let Some(renewal) = self.renewal.take() {
            renewal.end();
        }
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

/// Makes a state shared. The caller holds its ordinary lock alone, and has written a state.
///
/// # Errors
/// The store fails, or does not accept the document.
pub fn enable_sharing(object: &dyn SharedObject) -> Result<(), StateError> {
    update(object, |document| {
        document.enabled = true;
        Ok(())
    })
}

/// Ends the sharing of a state. The caller holds its ordinary lock alone.
///
/// # Errors
/// Runs have left results that the state does not have, or the store fails.
pub fn disable_sharing(object: &dyn SharedObject) -> Result<(), StateError> {
    update(object, |document| match document.runs.is_empty() {
        true => {
            *document = SharingDocument { enabled: false, ..SharingDocument::enabled() };
            Ok(())
        }
        false => Err(StateError::new(
            StateErrorKind::Changed,
            "The shared state has unfinished runs",
            format!(
                "Runs of {} were killed, and the state may lack their results. Run apply once, which recovers them, then disable sharing.",
                object.location()
            ),
        )),
    })
}

/// Returns the sharing document of a state; `None` without one.
///
/// # Errors
/// The store fails, or the document cannot be read.
pub fn sharing_document(object: &dyn SharedObject) -> Result<Option<SharingDocument>, StateError> {
    Ok(read(object)?.map(|(document, _)| document))
}

/// Returns the folder of the runs of a state beside `path`.
pub(super) fn runs_folder(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{}.groma-runs", name.strip_prefix('.').unwrap_or(&name)))
}
