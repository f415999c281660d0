//! The state file of one workspace, from the first look at it to the last word in it.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use groma_diagnostics::Diagnostics;

use super::lock::{HeldLock, Locking};
use super::open::{is_at, open_private, read_if_there, sync_folder, try_lock, write_whole};
use super::paths::{StatePaths, suffixed};
use super::reconcile::{Repair, reconcile};
use crate::error::{StateError, StateErrorKind};
use crate::file::{self, Written, write_parts};
use crate::journal::{Begin, Journal, Recovered, RunHeader, recover};
use crate::model::State;
use crate::random::{random_bits, uuid};
use crate::storage::{Storage, replace_content};

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

/// What an earlier run left in the journal.
#[derive(Clone, Copy, Default)]
struct Left {
    end: u64,
    is_folded: bool,
    has_calls: bool,
}

/// What was last seen in the file that is written to.
struct Disk {
    /// By length and checksum; an empty file and a missing one are the same.
    content: (u64, u32),
    /// Whether a state could be read from it.
    is_state: bool,
    /// Of the state that was read, which `-state` may have taken from another file.
    serial: u64,
    from_nothing: bool,
    /// Whether the file was read from another path, so that it has to be written in any case.
    is_elsewhere: bool,
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
        let journal = read_journal(&paths)?;
        let left = journal.as_ref().map_or_else(Left::default, Left::of);
        let reconciled = reconcile(&paths.read, &bytes, journal)?;
        let disk = if paths.read == paths.write {
            Disk::of(&bytes, reconciled.file_is_state, reconciled.state.as_ref())
        } else {
            let there = read_if_there(&paths.write)?.unwrap_or_default();
            let seen = Disk::of(&there, file::read(&there).is_ok(), reconciled.state.as_ref());
            Disk { is_elsewhere: true, ..seen }
        };
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
        store.repair(reconciled.repair, state.as_mut())?;
        Ok((store, Opened { state, in_flight: reconciled.in_flight, warnings: reconciled.warnings }))
    }

    /// Where the files are.
    pub fn paths(&self) -> &StatePaths {
        &self.paths
    }

    /// Begins a run that changes things: from here on the journal takes notes.
    ///
    /// A state without lineage gets one. `state` is what [`LocalStore::open`] gave, or a new one.
    ///
    /// # Errors
    /// When the journal cannot be written, or another process without the lock writes it.
    pub fn begin_run(&mut self, state: &mut State) -> Result<Arc<Journal>, StateError> {
        if state.lineage.is_empty() {
            state.lineage = uuid();
        }
        if self.is_behind {
            self.save(state)?;
        }
        let journal = self.open_journal()?;
        journal.start_run(&self.header(&state.lineage))?;
        self.journal = Some(journal.clone());
        Ok(journal)
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
        state.terraform_version.clone_from(&self.terraform_version);
        if state.lineage.is_empty() {
            state.lineage = uuid();
        }
        let new = write_parts(state);
        let file = self.file_to_write()?;
        let old = file.read_all().map_err(|error| StateError::io("read", &self.paths.write, &error))?;
        if content_of(&old) != self.disk.content {
            return Err(changed_meanwhile(&self.paths.write));
        }
        if !self.disk.is_elsewhere && is_same_content(&old, &new, self.disk.serial, &self.terraform_version) {
            state.serial = self.disk.serial;
            self.retire_journal(&state.lineage)?;
            return Ok(Saved::Unchanged);
        }
        state.serial = self.disk.serial + 1;
        self.back_up(&old)?;
        self.write_content(&file, &state.lineage, state.serial, &[&new.head(state.serial), &new.rest])?;
        self.retire_journal(&state.lineage)?;
        Ok(Saved::Written(state.serial))
    }

    /// Ends the lock.
    pub fn close(self) {}

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
            (_, state) if !self.left.is_folded || !self.left.has_calls => {
                self.retire_journal(state.map_or("", |state| &state.lineage))
            }
            _ => Ok(()),
        }
    }

    /// Puts a content into the half-written file that the journal still has.
    fn restore(&mut self, bytes: &[u8], state: &State) -> Result<(), StateError> {
        let file = self.file_to_write()?;
        let old = file.read_all().map_err(|error| StateError::io("read", &self.paths.write, &error))?;
        self.back_up(&old)?;
        replace_content(&*file, &[bytes]).map_err(|error| StateError::io("write", &self.paths.write, &error))?;
        self.disk = Disk { serial: state.serial, ..Disk::written(&[bytes]) };
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

    fn back_up(&mut self, old: &[u8]) -> Result<(), StateError> {
        if self.backup_made || !self.disk.is_state {
            return Ok(());
        }
        if let Some(backup) = &self.paths.backup {
            write_whole(backup, &[old])
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
            None => self.open_journal()?,
        };
        if journal.is_empty() {
            journal.start_run(&self.header(lineage))?;
        }
        journal.snapshot(lineage, serial, parts)?;
        self.journal = Some(journal);
        replace_content(file, parts).map_err(|error| {
            StateError::io("write", &self.paths.write, &error)
                .with_advice("The new state is complete in the journal beside the file; the next run puts it in place.")
        })?;
        self.disk = Disk { serial, ..Disk::written(parts) };
        self.paths.read.clone_from(&self.paths.write);
        Ok(())
    }

    fn header(&self, lineage: &str) -> RunHeader {
        RunHeader { lineage: lineage.to_owned(), serial: self.disk.serial, from_nothing: self.disk.from_nothing }
    }

    /// Opens the journal for notes after what was found in it; nobody else may write it until it is dropped.
    fn open_journal(&self) -> Result<Arc<Journal>, StateError> {
        let path = self.paths.journal();
        let failed = |action: &str, error: &io::Error| StateError::io(action, &path, error);
        let file = loop {
            let file = open_private(&path).map_err(|error| failed("open", &error))?;
            if !try_lock(&file).map_err(|error| failed("lock", &error))? {
                return Err(journal_in_use());
            }
            if is_at(&file, &path) {
                break file;
            }
        };
        let before = recover(&file.read_all().map_err(|error| failed("read", &error))?)?;
        if before.as_ref().map_or(0, |before| before.end) != self.left.end {
            return Err(changed_meanwhile(&path));
        }
        if before.is_none() {
            file.set_length(0).map_err(|error| failed("write", &error))?;
        }
        sync_folder(&path);
        Ok(Arc::new(Journal::open(path, Arc::new(file), before.as_ref())))
    }

    /// Ends the journal: everything is in the file. Calls still under way stay noted.
    fn retire_journal(&mut self, lineage: &str) -> Result<(), StateError> {
        let path = self.paths.journal();
        let journal = match self.journal.take() {
            Some(journal) => journal,
            None if self.left.end > 0 && (self.lock.is_some() || self.is_behind) => self.open_journal()?,
            None => return Ok(()),
        };
        self.is_behind = false;
        self.left = Left::default();
        if journal.has_calls_under_way() {
            self.left = Left { end: journal.start_run(&self.header(lineage))?, is_folded: true, has_calls: true };
            return Ok(());
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StateError::io("remove", &path, &error)),
            _ => Ok(()),
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

impl Disk {
    /// What was found: `bytes` in the file, and `state` after looking at the journal.
    fn of(bytes: &[u8], is_state: bool, state: Option<&State>) -> Self {
        Self {
            content: content_of(bytes),
            is_state,
            serial: state.map_or(0, |state| state.serial),
            from_nothing: state.is_none(),
            is_elsewhere: false,
        }
    }

    fn written(parts: &[&[u8]]) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        parts.iter().for_each(|part| hasher.update(part));
        let length = parts.iter().map(|part| part.len() as u64).sum();
        Self {
            content: (length, hasher.finalize()),
            is_state: true,
            serial: 0,
            from_nothing: false,
            is_elsewhere: false,
        }
    }
}

impl Left {
    fn of(journal: &Recovered) -> Self {
        Self { end: journal.end, is_folded: journal.is_folded(), has_calls: !journal.in_flight.is_empty() }
    }
}

fn content_of(bytes: &[u8]) -> (u64, u32) {
    (bytes.len() as u64, crc32fast::hash(bytes))
}

fn read_journal(paths: &StatePaths) -> Result<Option<Recovered>, StateError> {
    let path = paths.journal();
    match read_if_there(&path)? {
        Some(bytes) => recover(&bytes).map_err(|error| error.in_file(&path)),
        None => Ok(None),
    }
}

/// Whether the file's old bytes say what the new ones would, apart from serial and writer.
fn is_same_content(old: &[u8], new: &Written, serial: u64, terraform_version: &str) -> bool {
    let head = new.head(serial);
    if old.strip_prefix(&*head).is_some_and(|rest| rest == new.rest) {
        return true;
    }
    // A file that this version, or the Terraform it stands for, has written has the layout of the new bytes, so their
    // difference is one of content. Others are brought to that layout first.
    match file::read(old) {
        Ok(old) if old.terraform_version != terraform_version => write_parts(&old).rest == new.rest,
        _ => false,
    }
}

fn journal_in_use() -> StateError {
    StateError::new(
        StateErrorKind::Locked,
        "Error acquiring the state lock",
        "Another run is changing what this state describes, and writes its journal. -lock=false cannot help here: wait \
         until the other run has ended.",
    )
}

fn changed_meanwhile(path: &Path) -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "State file changed by another process",
        format!(
            "{} is not as it was when this run read it: something that does not take the lock wrote it meanwhile. It was \
             left as it is, so that neither result is lost.",
            path.display()
        ),
    )
}
