//! A shared state: reading it, beginning runs, and taking over those of processes that have ended.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::contention::until_done;
use super::document::SharedRunEntry;
use super::errors::exclusive_journal;
use super::folder::RunFolder;
use super::membership::{Abandoned, Membership, new_identifier};
use super::merge::rebase;
use super::merging_object::{MergingObject, StoredState};
use super::object::{SharedObject, SharedWait};
use super::record::{OutdatedRecord, OwnRecords, PlanVersions, RecordDigests, RecordName};
use super::renewal::Renewal;
use super::run::SharedRun;
use super::segments::is_shared_journal;
use super::stored_document::read;
use crate::error::{StateError, StateErrorKind};
use crate::journal::Event;
use crate::model::State;
use crate::store::lease::RENEWAL;
use crate::store::left::read_journal;
use crate::store::local::Opened;
use crate::store::lock::LockRequest;
use crate::store::open::is_locked;
use crate::store::paths::StatePaths;
use crate::store::remote::{Access, PersistIntervals, RemoteOptions, RemoteState, Replicating};

/// The number of attempts to find an identifier for a new run.
const IDENTIFIERS: u32 = 10;

/// Reports a run whose claims or whose part in the ordinary lock could not be released.
pub type LeaveReport = Arc<dyn Fn(&StateError) + Send + Sync>;

/// The settings of shared runs.
#[derive(Clone)]
pub struct SharedOptions {
    /// The encryption and the backup of the state, and the answer to a damaged journal.
    pub paths: StatePaths,
    /// The folder on this machine with the journals of runs.
    pub runs: PathBuf,
    /// The journal on this machine of runs that hold the ordinary lock alone.
    pub journal: PathBuf,
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
    pub(super) options: SharedOptions,
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
        let found = match read(&*object) {
            // Terraform and OpenTofu need no right to the document, so a state that nobody has shared works without it. If it is shared,
            // the run waits for the ordinary lock.
            Err(problem) if problem.kind == StateErrorKind::Denied => None,
            found => found?,
        };
        if found.is_none_or(|document| !document.enabled) {
            return Ok(None);
        }
        // The state may have been shared on another system.
        object.check_support()?;
        Ok(Some(Self { object, options }))
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
        Ok(self.read_stored()?.state)
    }

    pub(super) fn read_stored(&self) -> Result<StoredState, StateError> {
        StoredState::read(&*self.object, &self.options.paths)
    }

    /// Reads the state for a run that has claimed its records. They are those of the run while it has its claims, so that its own
    /// results take precedence; after a pause, they may be those of a run that has claimed them since.
    pub(super) fn read_claimed(&self, membership: &Membership) -> Result<StoredState, StateError> {
        let stored = self.read_stored()?;
        membership.confirm().map(|()| stored)
    }

    /// Whether a run that held the ordinary lock alone was killed and has left a journal. Only another such run can take it in, because
    /// that journal claims nothing.
    ///
    /// # Errors
    /// The store fails.
    pub fn has_exclusive_journal(&self) -> Result<bool, StateError> {
        if self.options.journal.exists() && !is_locked(&self.options.journal) {
            return Ok(true);
        }
        let Some(journals) = self.object.journals() else { return Ok(false) };
        Ok(journals.list()?.iter().any(|id| !id.is_merge_note() && !is_shared_journal(&id.run)))
    }

    /// Returns who began the runs whose processes have ended without leaving them.
    ///
    /// # Errors
    /// The store fails.
    pub fn ended_runs(&self) -> Result<Vec<String>, StateError> {
        let Some(document) = read(&*self.object)? else { return Ok(Vec::new()) };
        let ended = document.runs.into_iter().filter(|(run, entry)| self.has_ended(run, entry));
        Ok(ended.map(|(run, entry)| format!("{} (run {run})", entry.who)).collect())
    }

    fn has_ended(&self, run: &str, entry: &SharedRunEntry) -> bool {
        entry.is_over(self.object.now()) || RunFolder::has_ended(&self.options.runs, run, &entry.process)
    }

    /// Returns the runs that this process may carry on: first those on this machine that another machine has taken over and ended
    /// meanwhile, with only the part of their journals that was in the store; then those whose processes have ended.
    fn abandoned(&self) -> Result<Vec<AbandonedRun>, StateError> {
        // Before the document is read: a run that begins later must not be found without being in it.
        let on_machine = RunFolder::all(&self.options.runs);
        let known = read(&*self.object)?.map(|document| document.runs).unwrap_or_default();
        let left = on_machine.into_iter().filter(|run| !known.contains_key(run));
        let left = left.map(|run| AbandonedRun { run, process: None });
        let ended = known.iter().filter(|(run, entry)| self.has_ended(run, entry));
        let ended = ended.map(|(run, entry)| AbandonedRun { run: run.clone(), process: Some(entry.process.clone()) });
        Ok(left.chain(ended).collect())
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
        for abandoned in self.abandoned()? {
            let Some((mut run, mut opened)) = self.take_over(&abandoned, request, wait)? else { continue };
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
        abandoned: &AbandonedRun,
        request: &LockRequest,
        wait: &SharedWait<'_>,
    ) -> Result<Option<(SharedRun, Opened)>, StateError> {
        let AbandonedRun { run, process } = abandoned;
        let folder = match RunFolder::enter(&self.options.runs, run) {
            // Another process of this machine is at work on it.
            Err(problem) if problem.kind == StateErrorKind::Locked => return Ok(None),
            folder => folder?,
        };
        let membership = Membership::new(Arc::clone(&self.object), run.clone(), request);
        let abandoned = match process {
            Some(process) => Some(Abandoned::Ended { process }),
            None if folder.has_journal() => Some(Abandoned::Left { records: self.left_records(&folder)? }),
            None => None,
        };
        let taken = abandoned.map_or(Ok(false), |abandoned| membership.take_over(&abandoned));
        if !matches!(taken, Ok(true)) {
            // The file of a run that is not on this machine would mislead later runs.
            folder.remove();
            return taken.map(|_| None);
        }
        // Without the name, a later run waits for the deadline of this one.
        let _ = folder.set_process(&membership.process);
        let entered = Entered { membership: Arc::new(membership), folder, renewal: None };
        self.resume(entered, wait).map(Some)
    }

    /// Returns the files of a run on this machine.
    fn run_paths(&self, folder: &RunFolder) -> StatePaths {
        StatePaths { read: folder.state_path(), write: folder.state_path(), ..self.options.paths.clone() }
    }

    /// Returns the records that the journal of a run on this machine has results or calls for.
    fn left_records(&self, folder: &RunFolder) -> Result<BTreeSet<RecordName>, StateError> {
        let (_, recovered) = read_journal(&self.run_paths(folder), 0)?;
        let Some(recovered) = recovered else { return Ok(BTreeSet::new()) };
        let finished = recovered.events.iter().chain(&recovered.later).filter_map(|event| match event {
            Event::Finished(finished) => Some(&finished.object_address.0),
            // Outputs of a run that was left are older than those that are stored.
            Event::Outputs(..) => None,
        });
        let addresses = finished.chain(recovered.in_flight.iter().map(|begin| &begin.address));
        Ok(addresses.map(RecordName::instance).collect())
    }

    /// Goes on with an entered run of an ended process: writes the results in its journal.
    fn resume(&self, mut entered: Entered, wait: &SharedWait<'_>) -> Result<(SharedRun, Opened), StateError> {
        let opened = self
            .hold_lock(&mut entered, wait)
            .and_then(|()| self.fence())
            .and_then(|stored| self.open(&entered, stored));
        match opened {
            Ok((state, merging, opened)) => Ok((SharedRun::new(self, entered, state, merging), opened)),
            Err(problem) => {
                entered.end_renewal();
                // The results stay for a later attempt.
                let _ = entered.membership.abandon();
                Err(problem)
            }
        }
    }

    /// Takes part in the ordinary lock. A run that held it alone and was killed may have left a journal, which has to be taken in before
    /// anybody changes the objects in it. Only now it is certain that no such run is at work.
    fn hold_lock(&self, entered: &mut Entered, wait: &SharedWait<'_>) -> Result<(), StateError> {
        entered.membership.hold_lock(wait)?;
        if self.options.replicating == Replicating::Background {
            entered.renewal = Renewal::start(&entered.membership, RENEWAL);
        }
        match self.has_exclusive_journal()? {
            true => Err(exclusive_journal(&self.object.location())),
            false => Ok(()),
        }
    }

    /// Writes the state unchanged under the next serial, so that a process that was taken over cannot write the version that it has
    /// read.
    pub(super) fn fence(&self) -> Result<StoredState, StateError> {
        let object = &*self.object;
        until_done(object, "the state", || self.read_stored()?.write(object, &self.options.paths))
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
        let mut entered = self.new_run(request)?;
        let claimed = entered.membership.claim(&versions.changed, wait);
        let begun = claimed.and_then(|_| self.enter(&mut entered, versions, planned, wait));
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

    /// Makes the folder of a new run, which is not in the document yet.
    fn new_run(&self, request: &LockRequest) -> Result<Entered, StateError> {
        let mut attempts = 1..IDENTIFIERS;
        loop {
            let run = new_identifier(&*self.object);
            match RunFolder::enter(&self.options.runs, &run) {
                // Another process has found the new file before it was locked, and looks whether a run has left it.
                Err(problem) if problem.kind == StateErrorKind::Locked && attempts.next().is_some() => {}
                folder => {
                    let (folder, membership) = (folder?, Membership::new(Arc::clone(&self.object), run, request));
                    folder.set_process(&membership.process)?;
                    let membership = Arc::new(membership);
                    return Ok(Entered { membership, folder, renewal: None });
                }
            }
        }
    }

    fn enter(
        &self,
        entered: &mut Entered,
        versions: &PlanVersions,
        planned: &mut State,
        wait: &SharedWait<'_>,
    ) -> Result<Begun, StateError> {
        self.hold_lock(entered, wait)?;
        let stored = self.read_claimed(&entered.membership)?;
        let outdated = self.rebase_if_current(&stored.state, versions, planned, None)?;
        if !outdated.is_empty() {
            return Ok(Begun::Outdated(outdated));
        }
        let (bytes, serial) = (stored.stored.bytes.clone(), stored.state.serial);
        let (merging, options) = self.merging(entered, stored);
        let state = RemoteState::of_new_run(merging.clone(), bytes, serial, options)?;
        Ok(Begun::Current(Box::new(state), merging))
    }

    /// Compares the stored records with those of the plan. If only this run has changed any, the planned state becomes one over the
    /// stored state. A run that was taken over has records of its `own`.
    pub(super) fn rebase_if_current(
        &self,
        current: &State,
        versions: &PlanVersions,
        planned: &mut State,
        own: Option<&OwnRecords>,
    ) -> Result<Vec<OutdatedRecord>, StateError> {
        let now = RecordDigests::of_plan(current, versions);
        let mut outdated = versions.outdated(&now);
        outdated.retain(|name| !own.is_some_and(|own| own.wrote(name, &now)));
        if !outdated.is_empty() {
            let document = read(&*self.object)?.unwrap_or_default();
            return Ok(OutdatedRecord::found(outdated, &document, versions.serial));
        }
        // Results that were recovered for the plan are perhaps not in the stored state yet. The serial of such a plan says nothing: it
        // counts writes that had nothing to merge.
        if own.is_some() || current.serial != versions.serial {
            rebase(planned, current, |record| {
                versions.has(record) || own.is_some_and(|own| own.claims.contains(record))
            });
        }
        planned.lineage.clone_from(&current.lineage);
        Ok(Vec::new())
    }

    /// Opens the run of a process that has ended, with its journal.
    fn open(
        &self,
        entered: &Entered,
        start: StoredState,
    ) -> Result<(RemoteState, Arc<MergingObject>, Opened), StateError> {
        let bytes = start.stored.bytes.to_vec();
        let (merging, options) = self.merging(entered, start);
        let (state, opened) = RemoteState::open(merging.clone(), Some(bytes), options)?;
        Ok((state, merging, opened))
    }

    /// Returns the object of a run that starts from this state, and how it is opened.
    fn merging(&self, entered: &Entered, start: StoredState) -> (Arc<MergingObject>, RemoteOptions) {
        let SharedOptions { terraform_version, persist_intervals, replicating, .. } = self.options.clone();
        let paths = self.run_paths(&entered.folder);
        let merging = Arc::new(MergingObject::new(Arc::clone(&entered.membership), paths.clone(), start));
        // The run and its journal belong to this process alone.
        let access = Access::Exclusive;
        let options = RemoteOptions { paths, terraform_version, access, persist_intervals, replicating };
        (merging, options)
    }
}

/// A run that no process carries on.
struct AbandonedRun {
    run: String,
    /// The process that has ended; none if the run was left, and a part of its journal is on this machine.
    process: Option<String>,
}

enum Begun {
    Current(Box<RemoteState>, Arc<MergingObject>),
    Outdated(Vec<OutdatedRecord>),
}

/// A run of this process, from its folder to its end.
pub(super) struct Entered {
    pub membership: Arc<Membership>,
    pub folder: RunFolder,
    /// The thread that renews it, once it has a part in the ordinary lock.
    renewal: Option<Renewal>,
}

impl Entered {
    /// Ends the renewals in the background.
    pub fn end_renewal(&mut self) {
        self.renewal = None;
    }

    /// Leaves a run that has changed nothing.
    fn withdraw(mut self) -> Result<(), StateError> {
        self.end_renewal();
        let left = self.membership.leave(0, BTreeSet::new());
        self.folder.remove();
        left
    }
}
