//! The state file of one workspace, from the first look at it to the last word in it.

use std::fs::{self, File};
use std::io;
use std::sync::Arc;

use groma_diagnostics::Diagnostics;

use super::difference::note_difference;
use super::disk::{Disk, content_of, content_of_parts};
use super::left::{Left, read_journal};
use super::lock::{HeldLock, Locking};
use super::open::{copy_whole, is_at, make_private, open_private, read_if_there, write_whole};
use super::paths::{StatePaths, suffixed};
use super::reconcile::{Repair, reconcile};
use super::sealed::{Clear, clear, sealed};
use crate::content::{fill_content, replace_content};
use crate::error::StateError;
use crate::file::{self, write_parts, write_pieces};
use crate::journal::{Begin, Journal, RunHeader, Tail};
use crate::model::State;
use crate::random::{random_bits, uuid};
use crate::storage::Storage;

/// The local state file with its lock, journal and backup.
///
/// Dropping it ends the lock.
pub struct LocalStore {
    paths: StatePaths,
    terraform_version: String,
    lock: Option<HeldLock>,
    disk: Disk,
    /// Whether the journal holds what the file does not, because without the lock it could not be folded in.
    is_behind: bool,
    backup_made: bool,
    journal: Option<Arc<Journal>>,
    /// What of the journal was looked at: whatever follows was noted by somebody else since.
    left: Left,
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
    /// Opens the state: takes the lock, reads the file, and folds in what an interrupted run has left.
    ///
    /// `terraform_version` is what a written file names as its writer. While another process holds the lock,
    /// `keep_waiting` is asked again and again.
    ///
    /// # Errors
    /// When the lock is held by another process, or the file cannot be read or is damaged.
    pub fn open(
        paths: StatePaths,
        terraform_version: &str,
        locking: &Locking,
        keep_waiting: &dyn Fn() -> bool,
    ) -> Result<(Self, Opened), StateError> {
        let lock = match locking {
            Locking::On(request) => Some(HeldLock::take(&paths, request, keep_waiting)?),
            Locking::Off => None,
        };
        let bytes = match &lock {
            Some(lock) if paths.read == paths.write => {
                lock.file.read_all().map_err(|error| StateError::io("read", &paths.read, &error))?
            }
            _ => read_if_there(&paths.read)?.unwrap_or_default(),
        };
        let (left, journal) = read_journal(&paths)?;
        let Clear { bytes: content, is_current } = clear(&paths, &paths.read, &bytes)?;
        let reconciled = reconcile(&paths.read, &content, journal)?;
        drop(content);
        let disk = if paths.read == paths.write {
            Disk { is_current, ..Disk::of(&bytes, reconciled.file_is_state, reconciled.state.as_ref()) }
        } else {
            let there = read_if_there(&paths.write)?.unwrap_or_default();
            let content = clear(&paths, &paths.write, &there);
            let is_state = content.as_ref().is_ok_and(|content| file::read(&content.bytes).is_ok());
            let is_current = content.is_ok_and(|content| content.is_current);
            let seen = Disk::of(&there, is_state, reconciled.state.as_ref());
            Disk { is_elsewhere: true, is_current, ..seen }
        };
        let was_blank = file::is_blank(&bytes);
        drop(bytes);
        let has_own_layout =
            reconciled.state.as_ref().is_some_and(|state| state.terraform_version == terraform_version);
        let disk = Disk { has_own_layout, ..disk };
        let mut store = Self {
            terraform_version: terraform_version.to_owned(),
            lock,
            disk,
            is_behind: false,
            backup_made: false,
            journal: None,
            left,
            paths,
        };
        let mut state = reconciled.state;
        if let Some(state) = state.as_mut().filter(|_| was_blank) {
            // What only the journal knows was made by this program.
            state.terraform_version.clone_from(&store.terraform_version);
        }
        store.repair(reconciled.repair, state.as_mut())?;
        Ok((store, Opened { state, in_flight: reconciled.in_flight, warnings: reconciled.warnings }))
    }

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

    fn repair(&mut self, repair: Repair, state: Option<&mut State>) -> Result<(), StateError> {
        match (repair, state) {
            (Repair::Write | Repair::Restore(_), _) if self.lock.is_none() => {
                self.is_behind = true;
                Ok(())
            }
            (_, _) if self.lock.is_none() => Ok(()),
            (Repair::Write, Some(state)) => self.save(state).map(|_| ()),
            (Repair::Restore(bytes), Some(state)) => self.restore(&bytes, state),
            (Repair::SetAside, _) => self.set_journal_aside(),
            // All of it has reached the file, but the journal could not be retired any more.
            (_, state) if !self.left.is_folded || self.left.under_way.is_empty() => {
                self.retire_journal(state.map_or("", |state| &state.lineage))
            }
            _ => Ok(()),
        }
    }

    /// Puts a content into the half-written file that the journal still has.
    fn restore(&mut self, bytes: &[u8], state: &State) -> Result<(), StateError> {
        let file = self.file_to_write()?;
        let bytes = sealed(self.paths.encryption.as_deref(), bytes.to_vec())?;
        self.back_up(&*file)?;
        make_private(&file);
        replace_content(&*file, &[&bytes]).map_err(|error| StateError::io("write", &self.paths.write, &error))?;
        self.disk = Disk { serial: state.serial, ..Disk::written(content_of(&bytes)) };
        self.paths.read.clone_from(&self.paths.write);
        self.retire_journal(&state.lineage)
    }

    /// The open state file: the locked one, if it is still the one at its path.
    fn file_to_write(&self) -> Result<Arc<File>, StateError> {
        let open = match &self.lock {
            Some(lock) if is_at(&lock.file, &self.paths.write) => Ok(lock.file.clone()),
            _ => open_private(&self.paths.write).map(Arc::new),
        };
        open.map_err(|error| StateError::io("open", &self.paths.write, &error))
    }

    fn back_up(&mut self, old: &dyn Storage) -> Result<(), StateError> {
        if self.backup_made || !self.disk.is_state {
            return Ok(());
        }
        if let Some(backup) = &self.paths.backup {
            // What was not sealed, or otherwise, is sealed in the backup as it will be in the file.
            let copied = if self.disk.is_current {
                copy_whole(backup, old)
            } else {
                let bytes = old.read_all().map_err(|error| StateError::io("read", &self.paths.write, &error))?;
                let content = clear(&self.paths, &self.paths.write, &bytes)?.bytes.into_owned();
                write_whole(backup, &sealed(self.paths.encryption.as_deref(), content)?)
            };
            copied
                .map_err(|error| StateError::io("write", backup, &error).with_advice(
                    "This is the backup of the state, which is made before the state is changed. With -backup=- none is \
                     made.",
                ))?;
        }
        self.backup_made = true;
        Ok(())
    }

    /// Writes a new content: to the journal first, so that it is safe while the file is neither old nor new.
    fn write_content(&mut self, file: &File, lineage: &str, serial: u64, parts: &[&[u8]]) -> Result<(), StateError> {
        let journal = match &self.journal {
            Some(journal) => journal.clone(),
            None => self.left.open_journal(&self.paths)?,
        };
        if journal.is_empty() {
            journal.start_run(&self.header(lineage))?;
        }
        let sealed = match &self.paths.encryption {
            None => None,
            Some(encryption) => Some(sealed(Some(encryption), parts.concat())?),
        };
        journal.snapshot(lineage, serial, parts)?;
        self.journal = Some(journal);
        make_private(file);
        let whole = sealed.as_deref().map(|sealed| [sealed]);
        let parts = whole.as_ref().map_or(parts, |whole| &whole[..]);
        replace_content(file, parts).map_err(|error| self.unwritten(&error))?;
        self.disk = Disk { serial, ..Disk::written(content_of_parts(parts)) };
        self.paths.read.clone_from(&self.paths.write);
        Ok(())
    }

    /// Whether a first state is to be written where nothing was, and nothing is: piece by piece, so not if it is sealed.
    fn is_first(&self, file: &File) -> bool {
        let was_nothing = self.disk.from_nothing && self.disk.content.0 == 0 && !self.disk.is_elsewhere;
        was_nothing && self.paths.encryption.is_none() && file.length().is_ok_and(|length| length == 0)
    }

    /// Whether the journal says all that is in a first state, and is on its way to the disk: then the new content need not
    /// be noted as a whole.
    fn is_told_by_journal(&self, state: &State) -> Result<bool, StateError> {
        self.journal.as_ref().map_or(Ok(false), |journal| journal.complete(state))
    }

    /// Writes a first state that the journal tells. While it is brought to the disk the journal is too: it has to be there
    /// before the file is one that somebody may read.
    fn write_first(&mut self, file: &File, state: &State) -> Result<(), StateError> {
        make_private(file);
        let filled = fill_content(file, |take| write_pieces(state, take)).map_err(|error| self.unwritten(&error))?;
        if let Some(Err(problem)) = self.journal.as_ref().map(|journal| journal.sync()) {
            filled.give_up();
            return Err(problem);
        }
        let content = filled.finish().map_err(|error| self.unwritten(&error))?;
        self.disk = Disk { serial: state.serial, ..Disk::written(content) };
        self.paths.read.clone_from(&self.paths.write);
        Ok(())
    }

    fn unwritten(&self, error: &io::Error) -> StateError {
        StateError::io("write", &self.paths.write, error)
            .with_advice("The new state is complete in the journal beside the file; the next run puts it in place.")
    }

    fn header(&self, lineage: &str) -> RunHeader {
        RunHeader { lineage: lineage.to_owned(), serial: self.disk.serial, from_nothing: self.disk.from_nothing }
    }

    /// Ends the journal: everything is in the file. Calls still under way stay noted.
    fn retire_journal(&mut self, lineage: &str) -> Result<(), StateError> {
        let path = self.paths.journal();
        let journal = match self.journal.take() {
            Some(journal) => journal,
            None if self.left.length > 0 && (self.lock.is_some() || self.is_behind) => {
                self.left.open_journal(&self.paths)?
            }
            None => return Ok(()),
        };
        self.is_behind = false;
        self.left = Left::default();
        if journal.has_calls_under_way() {
            let end = journal.start_run(&self.header(lineage))?;
            journal.trim();
            let tail = if journal.is_sealed() { Tail::Sealed } else { Tail::Clear };
            self.left = Left { length: end, end, is_folded: true, under_way: journal.under_way(), tail };
            return Ok(());
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StateError::io("remove", &path, &error)),
            _ => {
                journal.removed();
                Ok(())
            }
        }
    }

    fn set_journal_aside(&self) -> Result<(), StateError> {
        if self.lock.is_none() {
            return Ok(());
        }
        let path = self.paths.journal();
        let aside = suffixed(&path, &format!(".{:08x}", random_bits() >> 32));
        fs::rename(&path, &aside).map_err(|error| StateError::io("rename", &path, &error))
    }
}
