//! A shared state: reading it, beginning runs, and taking over those of processes that have ended.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use super::errors::{OutdatedRecord, exclusive_journal, missing_state};
use super::folder::RunFolder;
use super::membership::{Membership, new_identifier, read};
use super::merge::rebase;
use super::merging::{MergingObject, parse};
use super::object::{SharedObject, SharedWait, Versioned};
use super::record::{PlanVersions, RecordDigests};
use super::run::SharedRun;
use super::segments::{RunOrigin, is_shared_journal};
use crate::error::{StateError, StateErrorKind};
use crate::file;
use crate::model::State;
use crate::store::local::Opened;
use crate::store::lock::LockRequest;
use crate::store::open::is_locked;
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

    pub(super) fn read_stored(&self) -> Result<Versioned, StateError> {
        self.object.read_state()?.ok_or_else(|| missing_state(&self.object.location()))
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
        Ok(journals.list()?.iter().any(|id| !is_shared_journal(&id.run)))
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
        let opened =
            self.hold_lock(&entered, wait).and_then(|()| self.fence()).and_then(|stored| self.open(&entered, stored));
        match opened {
            Ok((state, merging, opened)) => Ok((SharedRun::new(self, entered, state, merging), opened)),
            Err(problem) => {
                // The results stay for a later attempt.
                let _ = entered.membership.abandon();
                Err(problem)
            }
        }
    }

    /// Takes part in the ordinary lock. A run that held it alone and was killed may have left a journal, which has to be taken in before
    /// anybody changes the objects in it. Only now it is certain that no such run is at work.
    fn hold_lock(&self, entered: &Entered, wait: &SharedWait<'_>) -> Result<(), StateError> {
        entered.membership.hold_lock(wait)?;
        match self.has_exclusive_journal()? {
            true => Err(exclusive_journal(&self.object.location())),
            false => Ok(()),
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
        self.hold_lock(entered, wait)?;
        let stored = self.read_stored()?;
        let outdated = self.bring_up(&stored, versions, planned)?;
        if !outdated.is_empty() {
            return Ok(Begun::Outdated(outdated));
        }
        let (state, merging, _) = self.open(entered, stored)?;
        Ok(Begun::Current(Box::new(state), merging))
    }

    /// Compares the stored records with those of the plan. If none has changed, the planned state becomes one over the stored state.
    pub(super) fn bring_up(
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
pub(super) struct Entered {
    pub membership: Arc<Membership>,
    pub folder: RunFolder,
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
