//! A state that is stored elsewhere than in a local file, with its journal on this machine and in the store.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::fold::{Base, fold};
use super::left::{AcceptedDamage, Left, Retire, read_journal};
use super::local::{Opened, Saved};
use super::open::{is_locked, write_whole};
use super::paths::{Backup, StatePaths, suffixed};
use super::persist::{Persister, Target};
use super::reconcile::{Reconciled, Repair, note_difference, reconcile};
use super::sealed::{Clear, clear, sealed_bytes};
use super::shared_journal::SharedJournal;
use super::stored_content::StoredContent;
use crate::content::Content;
use crate::error::{StateError, StateErrorKind};
use crate::file::{self, write_parts};
use crate::journal::{Event, Follower, Journal, Recovered, RunHeader, SegmentStore};
use crate::model::State;
use crate::random::{random_bits, uuid};

/// The stored object of a state: one workspace of a remote backend.
pub trait StateObject: Send + Sync {
    /// Returns the location for messages, without secrets.
    fn location(&self) -> String;

    /// Returns the sentence about restoring an earlier version of a damaged state.
    fn restore_advice(&self) -> &'static str {
        "Restore an earlier version of the state."
    }

    /// Replaces the stored bytes by those of `state` if nobody else has written them since they were read or last written here.
    ///
    /// # Errors
    /// [`crate::StateErrorKind::Changed`] if somebody has, and any failure of the service.
    fn write(&self, state: &State, bytes: &Bytes, journals: JournalsAfter) -> Result<(), StateError>;

    /// Returns the journals of the state in the store; `None` if the store cannot keep them, or this run must not use
    /// them because it ignores the lock.
    fn journal(&self) -> Option<Arc<dyn SegmentStore>> {
        None
    }
}

/// Whether journals of a state are still needed after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalsAfter {
    /// A journal goes on, or has calls in flight.
    Open,
    /// The state has everything in its journals, which are deleted next.
    Closed,
}

/// The longest times that results are in the journal alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersistIntervals {
    /// The interval while the store has a copy of the journal.
    pub with_journal: Duration,
    /// The interval while the journal is on this machine only.
    pub without_journal: Duration,
}

/// Whether other runs are kept off the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// This run holds the lock of the store.
    Exclusive,
    /// There is no lock. Results of an interrupted run are taken into account and written with the next change.
    Unlocked,
}

/// The thread that copies the journal to the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replicating {
    /// A thread of its own.
    #[default]
    Background,
    /// The caller's thread, in [`RemoteState::replicate`]: for simulations.
    Caller,
}

/// The settings of opening a [`RemoteState`].
pub struct RemoteOptions {
    /// The files of this machine: the journal belongs to [`StatePaths::write`], which itself is never created. The
    /// encryption is that of the stored object.
    pub paths: StatePaths,
    /// The version of Terraform that written states name.
    pub terraform_version: String,
    /// Whether the caller holds the lock of the store.
    pub access: Access,
    /// The intervals of writes during a run; none if nothing is written before its end.
    pub persist_intervals: Option<PersistIntervals>,
    /// The thread that copies the journal.
    pub replicating: Replicating,
}

/// A state in a remote store: the counterpart of [`crate::LocalStore`].
///
/// The journal is a file on this machine, and a background thread copies it to the store where the store can keep it, at
/// most once a second. Another thread writes the state at intervals while a run goes on, and [`RemoteState::save`] does so
/// at the end. The journal is retired only when the stored state has everything in it; the next run, on any machine,
/// folds in what a killed run has left.
///
/// The lock of the store is the caller's affair: it is taken before [`RemoteState::open`] and released after the last
/// write. Dropping this ends the background thread without a further write.
pub struct RemoteState {
    object: Arc<dyn StateObject>,
    options: RemoteOptions,
    stored: StoredContent,
    /// Whether the stored bytes are sealed as they would be sealed now.
    is_current: bool,
    serial: u64,
    from_nothing: bool,
    is_behind: bool,
    left: Left,
    journal: Option<Arc<Journal>>,
    shared: SharedJournal,
    persister: Option<Persister>,
    /// The reader of the journal for the next background writes.
    follower: Option<Follower>,
    backup_made: bool,
}

impl RemoteState {
    /// Opens a state whose stored bytes are `bytes`; folds in what an interrupted run has left in the journal.
    ///
    /// # Errors
    /// The stored bytes are not a state or cannot be decrypted, the journal is damaged, or recovered results cannot be
    /// written.
    pub fn open(
        object: Arc<dyn StateObject>,
        bytes: Option<Vec<u8>>,
        options: RemoteOptions,
    ) -> Result<(Self, Opened), StateError> {
        let location = object.location();
        let location = Path::new(&location);
        let bytes = bytes.unwrap_or_default();
        let (mut shared, taken) = SharedJournal::open(object.journal(), &options.paths, options.access)?;
        // Only one process at a time writes a journal, so a locked one belongs to a run that is still at work.
        let is_in_use = options.access == Access::Unlocked && is_locked(&options.paths.journal());
        let (left, mut journal) =
            if is_in_use { Default::default() } else { read_journal(&options.paths, taken.known)? };
        let content = Content::of(&bytes);
        let Clear { bytes: stored, is_current } = clear(&options.paths, location, &bytes)?;
        // Content that was not sealed is the read bytes themselves, which are not copied.
        let opened = if let Cow::Owned(content) = stored { Some(content) } else { None };
        let stored = opened.unwrap_or(bytes);
        // A local journal that another machine has taken in is older than everything in the store.
        let outdated = journal.take_if(|_| taken.known > 0);
        let mut reconciled = reconcile(location, &stored, content, journal)
            .map_err(|problem| problem.restored_by(object.restore_advice()))?;
        for other in taken.others {
            shared.carry(&other.in_flight);
            fold_other(&mut reconciled, other);
        }
        if let Some(outdated) = outdated {
            fold_other(&mut reconciled, outdated);
        }
        // Damage that the user accepted is mentioned again, so that it is not forgotten.
        let mut warnings: groma_diagnostics::Diagnostics = left.damage.iter().map(AcceptedDamage::warning).collect();
        warnings.append(reconciled.warnings);
        let mut state = reconciled.state;
        let is_blank = file::is_blank(&stored);
        // A blank object is no state, and must not be kept as a backup either.
        let stored = if is_blank { Bytes::new() } else { stored.into() };
        let mut opened = Self::of(object, StoredContent::new(stored), shared, options);
        opened.serial = state.as_ref().map_or(0, |state| state.serial);
        // What a killed run has left unwritten is nothing yet: another run may have begun the state since.
        opened.from_nothing = is_blank;
        (opened.is_current, opened.left) = (is_current, left);
        if let Some(state) = state.as_mut().filter(|_| is_blank) {
            // What only the journal knows was made by this program.
            state.terraform_version.clone_from(&opened.options.terraform_version);
        }
        opened.repair(reconciled.repair, state.as_mut())?;
        Ok((opened, Opened { state, in_flight: reconciled.in_flight, warnings }))
    }

    /// Opens a state for a run that is new, so that it has no journal. The caller has read the state and knows its serial.
    ///
    /// # Errors
    /// The stored bytes cannot be decrypted.
    pub(super) fn of_new_run(
        object: Arc<dyn StateObject>,
        bytes: Bytes,
        serial: u64,
        options: RemoteOptions,
    ) -> Result<Self, StateError> {
        let location = object.location();
        let Clear { bytes: stored, is_current } = clear(&options.paths, Path::new(&location), &bytes)?;
        let opened = if let Cow::Owned(content) = stored { Some(content.into()) } else { None };
        let shared = SharedJournal::of_new_run(object.journal(), &options.paths);
        let mut new = Self::of(object, StoredContent::new(opened.unwrap_or(bytes)), shared, options);
        (new.serial, new.is_current) = (serial, is_current);
        Ok(new)
    }

    fn of(object: Arc<dyn StateObject>, stored: StoredContent, shared: SharedJournal, options: RemoteOptions) -> Self {
        Self {
            object,
            options,
            stored,
            is_current: true,
            serial: 0,
            from_nothing: false,
            is_behind: false,
            left: Left::default(),
            journal: None,
            shared,
            persister: None,
            follower: None,
            backup_made: false,
        }
    }

    fn repair(&mut self, repair: Repair, state: Option<&mut State>) -> Result<(), StateError> {
        let is_unretired = self.left.is_unretired();
        // Without the lock another run may be using the journal, so it is neither moved nor retired.
        match (&repair, state) {
            (Repair::SetAside, _) if self.options.access == Access::Unlocked => Ok(()),
            (_, _) if self.options.access == Access::Unlocked => {
                self.is_behind = is_unretired || repair == Repair::Write;
                Ok(())
            }
            (Repair::SetAside, _) => self.set_journal_aside(),
            // The recovered state is written at once, before anything else can fail.
            (Repair::Write | Repair::Restore(_), Some(state)) => self.save(state).map(|_| ()),
            (_, state) if is_unretired => self.retire_journal(state.map_or("", |state| &state.lineage)),
            _ => Ok(()),
        }
    }

    fn set_journal_aside(&mut self) -> Result<(), StateError> {
        let path = self.options.paths.journal();
        let aside = suffixed(&path, &format!(".{:08x}", random_bits() >> 32));
        fs::rename(&path, &aside).map_err(|error| StateError::io("rename", &path, &error))?;
        // The journal of this run begins with nothing.
        self.left = Left::default();
        Ok(())
    }

    /// Returns the files of this machine, with the encryption of the state.
    pub fn paths(&self) -> &StatePaths {
        &self.options.paths
    }

    /// Returns the location of the state for messages.
    pub fn location(&self) -> String {
        self.object.location()
    }

    /// Begins a run that changes things, as [`crate::LocalStore::begin_run`] does.
    ///
    /// # Errors
    /// The journal cannot be written, or another process writes it.
    pub fn begin_run(&mut self, state: &mut State) -> Result<Arc<Journal>, StateError> {
        self.prepare(state);
        // Results that were left in the journal come first, so that the run starts from a stored state.
        self.catch_up(state)?;
        self.begin_run_over(&self.stored_state()?, state)
    }

    /// Begins a run like [`RemoteState::begin_run`], over a stored state that the caller has parsed.
    pub(super) fn begin_run_over(&mut self, stored: &State, state: &mut State) -> Result<Arc<Journal>, StateError> {
        self.prepare(state);
        let journal = match &self.journal {
            // A run may begin again before it is saved; the journal stays the same.
            Some(journal) => journal.clone(),
            None => {
                let journal = self.left.open_journal(&self.options.paths)?;
                // Follows from before the first record, or the background writes would miss it.
                self.follower = Some(journal.follow());
                journal.start_run(&self.header(&state.lineage))?;
                self.shared.start(&journal, self.options.replicating)?;
                journal
            }
        };
        self.start_persisting(&journal, &state.lineage)?;
        // Moves and refreshes changed the state in memory; the journal needs them to reconstruct it.
        note_difference(stored, state, &journal)?;
        self.journal = Some(journal.clone());
        Ok(journal)
    }

    /// Starts the background writes of the run, unless they go on already.
    fn start_persisting(&mut self, journal: &Arc<Journal>, lineage: &str) -> Result<(), StateError> {
        let Some((intervals, follower)) = self.options.persist_intervals.zip(self.follower.take()) else {
            return Ok(());
        };
        // The writes of the run release the content that the backup has.
        self.back_up()?;
        let target = Target {
            object: self.object.clone(),
            encryption: self.options.paths.encryption.clone(),
            terraform_version: self.options.terraform_version.clone(),
            journal: journal.clone(),
            lineage: lineage.to_owned(),
            serial: self.serial,
            stored: self.stored.clone(),
            replica: self.shared.progress(),
            intervals,
        };
        self.persister = Persister::start(target, follower);
        Ok(())
    }

    /// Makes the run start from another stored state, after its background writes have ended. The next [`RemoteState::begin_run`]
    /// records how its state differs.
    pub(super) fn restart(&mut self, stored: &State) {
        // The stored state has the results so far, or the next records repeat them.
        let end = self.journal.as_ref().map_or(0, |journal| journal.end());
        self.follower = self.follower.take().and_then(|mut follower| follower.read_to(end).is_ok().then_some(follower));
        self.stored.set(Bytes::from(file::write(stored)));
        (self.serial, self.from_nothing) = (stored.serial, false);
    }

    /// Returns the stored state; an empty one if nothing is stored, or if the content is unknown after a failed write: then
    /// the journal gets all objects once more.
    fn stored_state(&self) -> Result<State, StateError> {
        match self.stored.get() {
            Some(stored) if !stored.is_empty() => file::read(&stored),
            _ => Ok(State::default()),
        }
    }

    /// Writes the state to the store, unless that holds it already, and retires the journal.
    ///
    /// The serial becomes one more than the stored one. A failure at any point loses no record of the journal.
    ///
    /// # Errors
    /// Another run has written the state meanwhile, or the store fails.
    pub fn save(&mut self, state: &mut State) -> Result<Saved, StateError> {
        self.prepare(state);
        // The background thread may be writing; only one writer may know the current serial.
        self.end_persisting()?;
        if self.holds(state) {
            // An unchanged state keeps its serial, as in Terraform.
            state.serial = self.serial;
            self.retire_journal(&state.lineage)?;
            return Ok(Saved::Unchanged);
        }
        self.raise_serial(state)?;
        self.write(state)?;
        Ok(Saved::Written(state.serial))
    }

    /// Writes a state that the user supplies, with its own serial and lineage.
    ///
    /// # Errors
    /// As for [`RemoteState::save`].
    pub fn put(&mut self, state: &mut State) -> Result<Saved, StateError> {
        state.terraform_version.clone_from(&self.options.terraform_version);
        self.end_persisting()?;
        // Pushing the same state twice must not change it.
        if self.holds(state) && state.serial == self.serial && self.lineage_is(&state.lineage) {
            self.retire_journal(&state.lineage)?;
            return Ok(Saved::Unchanged);
        }
        self.write(state)?;
        Ok(Saved::Written(state.serial))
    }

    /// Writes the state under the next serial, even if the store holds it already, without the note that its journals are closed.
    ///
    /// # Errors
    /// As for [`RemoteState::save`].
    pub fn rewrite(&mut self, state: &mut State) -> Result<Saved, StateError> {
        self.prepare(state);
        self.end_persisting()?;
        self.raise_serial(state)?;
        self.shared.close_found()?;
        self.write_noting(state, JournalsAfter::Open)?;
        Ok(Saved::Written(state.serial))
    }

    /// Gives the state the serial after the stored one. A serial must never repeat, since others compare it to detect changes.
    fn raise_serial(&self, state: &mut State) -> Result<(), StateError> {
        state.serial = self.serial.checked_add(1).ok_or_else(|| StateError::serial_out_of_range(&self.location()))?;
        Ok(())
    }

    fn write(&mut self, state: &State) -> Result<(), StateError> {
        self.shared.close_found()?;
        self.write_noting(state, self.journals_after())
    }

    fn write_noting(&mut self, state: &State, journals: JournalsAfter) -> Result<(), StateError> {
        // Before the first write only: later versions belong to the same run.
        self.back_up()?;
        self.stored.release();
        let content = Bytes::from(file::write_exact(state));
        let bytes = sealed_bytes(self.options.paths.encryption.as_deref(), &content)?;
        if let Some(journal) = &self.journal {
            // The journal has the objects of the run already. If the write fails, the next run needs the rest, too.
            journal.outputs(state)?;
            // A run that is killed before the journal is retired then recognizes its own write.
            journal.checkpoint(Content::of(&bytes))?;
            journal.sync()?;
        }
        let written = self.object.write(state, &bytes, journals);
        if let Some(problem) = written.as_ref().err().filter(|problem| problem.kind == StateErrorKind::Changed) {
            self.shared.lose(problem);
        }
        written?;
        self.stored.set(content);
        (self.serial, self.is_current, self.from_nothing) = (state.serial, true, false);
        if let Some(journal) = &self.journal {
            // Without that note the next run compares the stored state with the journal.
            let _ = journal.written();
        }
        self.retire_journal(&state.lineage)
    }

    fn journals_after(&self) -> JournalsAfter {
        let has_calls = match &self.journal {
            Some(journal) => journal.has_calls_in_flight(),
            None => !self.left.in_flight.is_empty(),
        };
        let is_ours = self.options.access == Access::Exclusive;
        if is_ours && !has_calls && !self.shared.has_carried() { JournalsAfter::Closed } else { JournalsAfter::Open }
    }

    /// Whether the store has the content already, apart from serial and writer, sealed as it would be now.
    fn holds(&self, new: &State) -> bool {
        let Some(stored) = self.stored.get().filter(|stored| !stored.is_empty() && self.is_current) else {
            return false;
        };
        if file::is_content_of(&stored, new, self.serial) {
            return true;
        }
        // Other programs use another layout, so that their content is compared in this program's.
        !file::has_own_layout(&stored, &new.terraform_version, self.serial)
            && file::read(&stored).is_ok_and(|old| write_parts(&old).rest == write_parts(new).rest)
    }

    fn lineage_is(&self, lineage: &str) -> bool {
        self.stored_state().is_ok_and(|stored| stored.lineage == lineage)
    }

    fn back_up(&mut self) -> Result<(), StateError> {
        // Content is unknown only after a write, which was preceded by the backup.
        let stored = self.stored.get().filter(|stored| !stored.is_empty() && !self.backup_made);
        let Some(stored) = stored else { return Ok(()) };
        let paths = &mut self.options.paths;
        // Remote states have no file here, so the backup gets the name of a local one.
        if paths.backup == Backup::New {
            let usual = Path::new("terraform.tfstate");
            let claimed =
                super::open::claim_backup(usual).map_err(|error| StateError::io("make a backup of", usual, &error))?;
            paths.backup = Backup::At(claimed);
        }
        let Some(backup) = paths.backup.path() else { return Ok(()) };
        let bytes = sealed_bytes(paths.encryption.as_deref(), &stored)?;
        write_whole(backup, &bytes).map_err(|error| StateError::io("write", backup, &error))?;
        self.backup_made = true;
        Ok(())
    }

    /// Ends the background writes of the run. Its reader of the journal stays for further ones.
    ///
    /// # Errors
    /// Another run has replaced the state that this run wrote.
    pub(super) fn end_persisting(&mut self) -> Result<(), StateError> {
        let Some(progress) = self.persister.take().and_then(Persister::stop) else { return Ok(()) };
        self.follower = progress.follower;
        if progress.has_written {
            (self.serial, self.is_current, self.from_nothing) = (progress.serial, true, false);
        }
        match progress.conflict {
            Some(problem) => {
                self.shared.lose(&problem);
                Err(problem)
            }
            None => Ok(()),
        }
    }

    /// Writes what the journal has to the store, where that was left for later because there is no lock.
    ///
    /// # Errors
    /// As for [`RemoteState::save`].
    pub fn catch_up(&mut self, state: &mut State) -> Result<(), StateError> {
        if self.is_behind {
            self.save(state)?;
        }
        Ok(())
    }

    /// Copies the journal to the store now, where the caller does that: see [`Replicating::Caller`].
    pub fn replicate(&mut self) {
        self.shared.replicate();
    }

    /// Whether the store does not have everything in the journal.
    pub fn is_journal_behind(&self) -> bool {
        self.shared.progress().is_none_or(|progress| progress.is_behind())
    }

    /// Returns the reason why the store has no copy of the journal, if it refuses one.
    pub fn journal_refusal(&self) -> Option<StateError> {
        self.shared.progress()?.refused()
    }

    /// Whether a journal stays when this is dropped: results that the stored state does not have, or calls without an answer.
    pub(super) fn has_journal(&self) -> bool {
        self.journal.is_some() || self.left.length > 0
    }

    /// Whether the journal has every result of the run, so that the next run on this machine recovers them.
    pub fn is_in_journal(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_complete())
    }

    fn prepare(&self, state: &mut State) {
        state.terraform_version.clone_from(&self.options.terraform_version);
        if state.lineage.is_empty() {
            state.lineage = uuid();
        }
    }

    fn header(&self, lineage: &str) -> RunHeader {
        RunHeader { lineage: lineage.to_owned(), serial: self.serial, from_nothing: self.from_nothing }
    }

    fn retire_journal(&mut self, lineage: &str) -> Result<(), StateError> {
        let header = self.header(lineage);
        let is_ours = self.options.access == Access::Exclusive || self.is_behind;
        let scope = if is_ours { Retire::Any } else { Retire::Own };
        self.is_behind = false;
        let journal = self.journal.take();
        let has_calls =
            journal.as_ref().map_or(!self.left.in_flight.is_empty(), |journal| journal.has_calls_in_flight());
        // The copy is deleted first: a local journal without one has only results that the state has, too.
        let is_complete = !has_calls && (is_ours || journal.is_some());
        if is_complete {
            self.shared.remove();
        }
        self.left.retire(journal, &self.options.paths, &header, scope)?;
        if has_calls {
            self.shared.keep();
        } else if is_complete {
            self.shared.forget();
        }
        if self.left.length == 0
            && let Some(folder) = self.options.paths.write.parent()
        {
            // Removes the folder of the journal if nothing else is in it.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

impl Drop for RemoteState {
    fn drop(&mut self) {
        // Nothing may be written after the caller releases the lock, except for the rest of a journal that stays.
        let _ = self.persister.take().and_then(Persister::stop);
        self.shared.keep();
    }
}

/// Folds in the journal of a run that is not the one of the local journal.
fn fold_other(reconciled: &mut Reconciled, other: Recovered) {
    let state = reconciled.state.get_or_insert_with(|| {
        let mut state = State::default();
        state.lineage.clone_from(&other.header.lineage);
        state.serial = other.header.serial;
        state
    });
    // Records of another lineage say nothing about the objects of this state.
    if state.lineage != other.header.lineage && !other.header.from_nothing {
        return;
    }
    let events: Vec<Event> = other.events.into_iter().chain(other.later).collect();
    let folded = fold(state, events, Base::Newer);
    reconciled.warnings.append(folded.warnings);
    if folded.changed && reconciled.repair != Repair::SetAside {
        reconciled.repair = Repair::Write;
    }
    reconciled.in_flight.extend(other.in_flight);
}
