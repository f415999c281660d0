//! The state file of one workspace, from opening to the last write.

use std::fs::File;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use groma_diagnostics::Diagnostics;

use super::checkpoint::{Checkpoints, Start, Target};
use super::disk::Disk;
use super::left::Left;
use super::lock::HeldLock;
use super::open::{is_at, open_private, read_if_there, refuse_stream};
use super::paths::StatePaths;
use super::reconcile::note_difference;
use super::sealed::clear;
use crate::content::Content;
use crate::error::StateError;
use crate::file::{self, write_parts};
use crate::journal::{Begin, Journal, RunHeader};
use crate::model::State;
use crate::random::uuid;
use crate::storage::Storage;

/// The local backend: a state file with its lock, journal and backup.
///
/// [`LocalStore::open`] takes the lock, reads the file, and recovers what an interrupted run has left in the journal.
/// [`LocalStore::begin_run`] starts a journal for the changes of a run; a background thread folds it into the file at
/// intervals (checkpoints). [`LocalStore::save`] writes the final state and retires the journal.
///
/// Guarantees that at every moment file and journal together hold every completed provider call, that the file is
/// replaced as a whole or not at all, and that a backup of the previous content exists before the first change. Does
/// not merge concurrent changes: the lock excludes other runs.
///
/// Dropping it releases the lock.
pub struct LocalStore {
    pub(super) paths: StatePaths,
    pub(super) terraform_version: String,
    pub(super) lock: Option<HeldLock>,
    pub(super) disk: Disk,
    /// Whether the journal holds results of an earlier run, because without the lock it could not be retired. The file may have
    /// all of them: as long as the journal is there, they would come to life again where the file is replaced.
    pub(super) is_behind: bool,
    pub(super) backup_made: bool,
    pub(super) journal: Option<Arc<Journal>>,
    pub(super) checkpoints: Option<Checkpoints>,
    /// The longest time that results are in the journal alone.
    pub(super) lag: Duration,
    /// The part of the journal that was read: anything after it was written by another process.
    pub(super) left: Left,
}

/// The result of opening a state.
#[derive(Debug)]
pub struct Opened {
    /// The state, what an interrupted run has done included; none where nothing was ever applied.
    pub state: Option<State>,
    /// Provider calls that an interrupted run began and of which the result is not known. Each stays until
    /// [`Journal::finished`] or [`Journal::resolved`] is called for its address.
    pub in_flight: Vec<Begin>,
    /// Warnings about the recovery.
    pub warnings: Diagnostics,
}

/// The result of writing a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// The file has it, under this serial.
    Written(u64),
    /// The file had it already.
    Unchanged,
}

impl LocalStore {
    /// Returns the paths of the state.
    pub fn paths(&self) -> &StatePaths {
        &self.paths
    }

    /// Begins a run that changes things: from here on the journal takes notes.
    ///
    /// `state` is the start of the run: the result of [`LocalStore::open`] with later moves and refreshed
    /// objects, or a new one, which gets a lineage. If it differs from the file, the difference is recorded first.
    ///
    /// # Errors
    /// When the journal cannot be written, or another process without the lock writes it.
    pub fn begin_run(&mut self, state: &mut State) -> Result<Arc<Journal>, StateError> {
        refuse_stream(&self.paths.write)?;
        self.prepare(state);
        self.next_serial()?;
        self.catch_up(state)?;
        let journal = match &self.journal {
            Some(journal) => journal.clone(),
            None => {
                let journal = self.left.open_journal(&self.paths)?;
                // Taken before the run starts, so that the checkpoints miss none of its records.
                let follower = journal.follow();
                journal.start_run(&self.header(&state.lineage))?;
                let target = self.checkpoint_target(&journal, &state.lineage)?;
                self.checkpoints = Checkpoints::start(target, follower);
                journal
            }
        };
        self.note_difference(state, &journal)?;
        self.journal = Some(journal.clone());
        Ok(journal)
    }

    fn checkpoint_target(&self, journal: &Arc<Journal>, lineage: &str) -> Result<Target, StateError> {
        Ok(Target {
            paths: self.paths.clone(),
            file: self.file_to_write()?,
            journal: journal.clone(),
            terraform_version: self.terraform_version.clone(),
            lineage: lineage.to_owned(),
            serial: self.disk.serial,
            content: self.disk.content,
            is_state: self.disk.is_state,
            is_current: self.disk.is_current,
            start: if self.disk.from_nothing { Start::Nothing } else { Start::File },
            backup_made: self.backup_made,
            lag: self.lag,
        })
    }

    /// Ends the checkpoints of the run.
    pub(super) fn end_checkpoints(&mut self) {
        let Some(progress) = self.checkpoints.take().and_then(Checkpoints::stop) else { return };
        self.paths.backup = progress.backup;
        self.backup_made = progress.backup_made;
        if let Some(content) = progress.content {
            self.see_checkpoint(content);
        }
    }

    /// Takes notice that the file has become a checkpoint of this run.
    fn see_checkpoint(&mut self, content: Content) {
        (self.disk.content, self.disk.is_checkpoint) = (content, true);
        // What is in the file is another content than that of the same serial before.
        self.disk.has_own_layout = true;
    }

    /// Notes how `state` differs from the file. That may be a checkpoint already: planning asks after the calls of a killed run,
    /// and their results are the first ones of this run.
    fn note_difference(&mut self, state: &State, journal: &Journal) -> Result<(), StateError> {
        let latest = self.checkpoints.as_ref().map(Checkpoints::latest);
        // No checkpoint is written while the file is compared and read.
        let latest = latest.as_ref().map(|latest| latest.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(content) = latest.as_deref().copied().flatten() {
            self.see_checkpoint(content);
        }
        let bytes = if self.disk.is_other_file {
            read_if_there(&self.paths.read)?.unwrap_or_default()
        } else {
            let file = self.file_to_write()?;
            // The usual case, which needs no parsing of the file.
            if self.disk.holds(&self.paths, &*file, &write_parts(state))? {
                return Ok(());
            }
            file.read_all().map_err(|error| StateError::io("read", &self.paths.write, &error))?
        };
        let bytes = clear(&self.paths, &self.paths.write, &bytes)?.bytes;
        let found = if file::is_blank(&bytes) { State::default() } else { file::read(&bytes)? };
        // A large state need not be in memory twice while the difference is computed.
        drop(bytes);
        note_difference(&found, state, journal)
    }

    /// Writes the state into its file, unless that holds it already, and retires the journal.
    ///
    /// The serial becomes one more than that of the file. First the old content goes to the backup and the new one to
    /// the journal, and both to the disk; then the file is written in place. A failure at any point loses nothing: the
    /// next [`LocalStore::open`] goes on from the journal.
    ///
    /// # Errors
    /// When the file was changed by another process meanwhile, or the disk is full or fails.
    pub fn save(&mut self, state: &mut State) -> Result<Saved, StateError> {
        self.prepare(state);
        self.end_checkpoints();
        let serial = self.next_serial()?;
        let file = self.file_to_write()?;
        if self.is_first(&file)? && self.is_recorded_by_journal(state)? {
            state.serial = serial;
            self.write_first(&file, state)?;
            self.retire_journal(&state.lineage)?;
            return Ok(Saved::Written(state.serial));
        }
        let new = write_parts(state);
        // As in Terraform, a run that changes nothing leaves the file and its serial alone.
        if self.disk.holds(&self.paths, &*file, &new)? {
            state.serial = self.disk.serial;
            self.retire_journal(&state.lineage)?;
            return Ok(Saved::Unchanged);
        }
        state.serial = serial;
        self.back_up(&*file)?;
        self.write_content(&file, &state.lineage, state.serial, &[&new.head(state.serial), &new.rest])?;
        self.retire_journal(&state.lineage)?;
        Ok(Saved::Written(state.serial))
    }

    /// Writes a state that somebody brings along: with the serial and the lineage that it has, which may be none.
    ///
    /// # Errors
    /// As for [`LocalStore::save`].
    pub fn put(&mut self, state: &mut State) -> Result<Saved, StateError> {
        state.terraform_version.clone_from(&self.terraform_version);
        self.end_checkpoints();
        let new = write_parts(state);
        let file = self.file_to_write()?;
        // A pushed state keeps its own serial, so that a different serial alone is a change.
        if self.disk.holds(&self.paths, &*file, &new)? && state.serial == self.disk.serial {
            self.retire_journal(&state.lineage)?;
            return Ok(Saved::Unchanged);
        }
        self.back_up(&*file)?;
        self.write_content(&file, &state.lineage, state.serial, &[&new.head(state.serial), &new.rest])?;
        self.retire_journal(&state.lineage)?;
        Ok(Saved::Written(state.serial))
    }

    /// Brings what the journal has into the file and retires the journal, where that was left for later because nobody else is
    /// kept off.
    ///
    /// # Errors
    /// As for [`LocalStore::save`].
    pub fn catch_up(&mut self, state: &mut State) -> Result<(), StateError> {
        // Without the lock, opening could not write the results of the earlier run.
        if self.is_behind {
            self.save(state)?;
        }
        Ok(())
    }

    /// Whether the journal has every result of the run, so that the next run takes them up whatever becomes of the state
    /// file.
    pub fn is_in_journal(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_complete())
    }

    /// Releases the lock.
    pub fn close(self) {}

    /// The serial of the next state.
    fn next_serial(&self) -> Result<u64, StateError> {
        let next = self.disk.serial.checked_add(1);
        next.ok_or_else(|| StateError::serial_out_of_range(&self.paths.read.display().to_string()))
    }

    /// Gives the state what the file will say about its writing.
    fn prepare(&self, state: &mut State) {
        state.terraform_version.clone_from(&self.terraform_version);
        // A new state gets its lineage once; later runs recognize the state by it.
        if state.lineage.is_empty() {
            state.lineage = uuid();
        }
    }

    /// The open state file: the locked one, if it is still the one at its path.
    ///
    /// # Errors
    /// The file cannot be opened, or keeps nothing.
    pub(super) fn file_to_write(&self) -> Result<Arc<File>, StateError> {
        refuse_stream(&self.paths.write)?;
        let open = match &self.lock {
            // If the file was replaced, writing to the locked one would lose the state.
            Some(lock) if is_at(&lock.file, &self.paths.write) => Ok(lock.file.clone()),
            _ => open_private(&self.paths.write).map(Arc::new),
        };
        open.map_err(|error| StateError::io("open", &self.paths.write, &error))
    }

    pub(super) fn header(&self, lineage: &str) -> RunHeader {
        RunHeader { lineage: lineage.to_owned(), serial: self.disk.serial, from_nothing: self.disk.from_nothing }
    }
}

impl Drop for LocalStore {
    fn drop(&mut self) {
        // Nobody else may write the file while its lock is held.
        self.end_checkpoints();
    }
}
