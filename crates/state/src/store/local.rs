//! The state file of one workspace, from the first look at it to the last word in it.

use std::fs::File;
use std::sync::Arc;

use groma_diagnostics::Diagnostics;

use super::difference::note_difference;
use super::disk::Disk;
use super::left::Left;
use super::lock::HeldLock;
use super::open::{is_at, open_private, read_if_there, refuse_stream};
use super::paths::StatePaths;
use super::sealed::clear;
use crate::error::StateError;
use crate::file::{self, write_parts};
use crate::journal::{Begin, Journal, RunHeader};
use crate::model::State;
use crate::random::uuid;
use crate::storage::Storage;

/// The local state file with its lock, journal and backup.
///
/// Dropping it ends the lock.
pub struct LocalStore {
    pub(super) paths: StatePaths,
    pub(super) terraform_version: String,
    pub(super) lock: Option<HeldLock>,
    pub(super) disk: Disk,
    /// Whether the journal holds what the file does not, because without the lock it could not be folded in.
    pub(super) is_behind: bool,
    pub(super) backup_made: bool,
    pub(super) journal: Option<Arc<Journal>>,
    /// What of the journal was looked at: whatever follows was noted by somebody else since.
    pub(super) left: Left,
}

/// What was found.
#[derive(Debug)]
pub struct Opened {
    /// The state, what an interrupted run has done included; none where nothing was ever applied.
    pub state: Option<State>,
    /// Provider calls that an interrupted run began and of which the result is not known. Each stays until
    /// [`Journal::finished`] or [`Journal::settled`] is told about its place.
    pub in_flight: Vec<Begin>,
    /// What a person has to know about the recovery.
    pub warnings: Diagnostics,
}

/// What writing a state came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// The file has it, under this serial.
    Written(u64),
    /// The file had it already.
    Unchanged,
}

impl LocalStore {
    /// Where the files are.
    pub fn paths(&self) -> &StatePaths {
        &self.paths
    }

    /// Begins a run that changes things: from here on the journal takes notes.
    ///
    /// `state` is what the run starts from: what [`LocalStore::open`] gave, with all that moves and a refresh have made of
    /// it since, or a new one, which gets a lineage. Where it differs from the file, the difference is noted first.
    ///
    /// # Errors
    /// When the journal cannot be written, or another process without the lock writes it.
    pub fn begin_run(&mut self, state: &mut State) -> Result<Arc<Journal>, StateError> {
        refuse_stream(&self.paths.write)?;
        self.prepare(state);
        self.catch_up(state)?;
        let journal = match &self.journal {
            Some(journal) => journal.clone(),
            None => {
                let journal = self.left.open_journal(&self.paths)?;
                journal.start_run(&self.header(&state.lineage))?;
                journal
            }
        };
        self.note_difference(state, &journal)?;
        self.journal = Some(journal.clone());
        Ok(journal)
    }

    /// Notes how `state` differs from the file.
    fn note_difference(&self, state: &State, journal: &Journal) -> Result<(), StateError> {
        let bytes = if self.disk.is_elsewhere {
            read_if_there(&self.paths.read)?.unwrap_or_default()
        } else {
            let file = self.file_to_write()?;
            if self.disk.holds(&self.paths, &*file, &write_parts(state))? {
                return Ok(());
            }
            file.read_all().map_err(|error| StateError::io("read", &self.paths.write, &error))?
        };
        let bytes = clear(&self.paths, &self.paths.write, &bytes)?.bytes;
        let found = if file::is_blank(&bytes) { State::default() } else { file::read(&bytes)? };
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
        let file = self.file_to_write()?;
        if self.is_first(&file) && self.is_told_by_journal(state)? {
            state.serial = self.disk.serial + 1;
            self.write_first(&file, state)?;
            self.retire_journal(&state.lineage)?;
            return Ok(Saved::Written(state.serial));
        }
        let new = write_parts(state);
        if self.disk.holds(&self.paths, &*file, &new)? {
            state.serial = self.disk.serial;
            self.retire_journal(&state.lineage)?;
            return Ok(Saved::Unchanged);
        }
        state.serial = self.disk.serial + 1;
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
        let new = write_parts(state);
        let file = self.file_to_write()?;
        if self.disk.holds(&self.paths, &*file, &new)? && state.serial == self.disk.serial {
            self.retire_journal(&state.lineage)?;
            return Ok(Saved::Unchanged);
        }
        self.back_up(&*file)?;
        self.write_content(&file, &state.lineage, state.serial, &[&new.head(state.serial), &new.rest])?;
        self.retire_journal(&state.lineage)?;
        Ok(Saved::Written(state.serial))
    }

    /// Brings what only the journal has into the file, where that was left for later because nobody else is kept off.
    ///
    /// # Errors
    /// As for [`LocalStore::save`].
    pub fn catch_up(&mut self, state: &mut State) -> Result<(), StateError> {
        if self.is_behind {
            self.save(state)?;
        }
        Ok(())
    }

    /// Ends the lock.
    pub fn close(self) {}

    /// Gives the state what the file will say about its writing.
    fn prepare(&self, state: &mut State) {
        state.terraform_version.clone_from(&self.terraform_version);
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
            Some(lock) if is_at(&lock.file, &self.paths.write) => Ok(lock.file.clone()),
            _ => open_private(&self.paths.write).map(Arc::new),
        };
        open.map_err(|error| StateError::io("open", &self.paths.write, &error))
    }

    pub(super) fn header(&self, lineage: &str) -> RunHeader {
        RunHeader { lineage: lineage.to_owned(), serial: self.disk.serial, from_nothing: self.disk.from_nothing }
    }
}
