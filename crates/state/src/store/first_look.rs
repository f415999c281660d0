//! Opening a state file: results of an interrupted run are folded in.

use std::time::Duration;
use std::{fs, thread};

use groma_diagnostics::Diagnostics;

use super::checkpoint::LAG;
use super::disk::Disk;
use super::left::{AcceptedDamage, Left, read_journal};
use super::local::{LocalStore, Opened};
use super::lock::{HeldLock, Locking};
use super::open::{is_locked, is_stream, make_private, read_if_there, refuse_stream, stamp};
use super::paths::{StatePaths, suffixed};
use super::reconcile::{Repair, reconcile};
use super::sealed::{Clear, clear, sealed};
use super::sharing::{forget_commit, whole_commit};
use crate::content::{Content, is_unfinished, replace_content};
use crate::error::StateError;
use crate::file;
use crate::journal::Recovered;
use crate::model::State;
use crate::random::random_bits;
use crate::storage::Storage;

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
        // With -state-out, only the file that is written has to keep its content.
        if paths.read != paths.write {
            refuse_stream(&paths.write)?;
        }
        let lock = match locking {
            Locking::On(request) => Some(HeldLock::take(&paths, request, keep_waiting)?),
            Locking::Off => None,
        };
        let Found { bytes, left, journal, is_in_use } = Found::read(&paths, lock.as_ref())?;
        let Clear { bytes: content, is_current } = clear(&paths, &paths.read, &bytes)?;
        let reconciled = reconcile(&paths.read, &content, Content::of(&bytes), journal)?;
        // A large state need not stay in memory beyond its use.
        drop(content);
        let disk = if paths.read == paths.write {
            Disk { is_current, ..Disk::of(&bytes, reconciled.file_is_state, reconciled.state.as_ref()) }
        } else {
            let there = read_if_there(&paths.write)?.unwrap_or_default();
            let content = clear(&paths, &paths.write, &there);
            let is_state = content.as_ref().is_ok_and(|content| file::read(&content.bytes).is_ok());
            let is_current = content.is_ok_and(|content| content.is_current);
            let seen = Disk::of(&there, is_state, reconciled.state.as_ref());
            Disk { is_other_file: true, is_current, ..seen }
        };
        let was_blank = file::is_blank(&bytes);
        // Only the parsed state is needed from here on.
        drop(bytes);
        // The layout of the file is only known for the version that this program writes.
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
            checkpoints: None,
            lag: LAG,
            left,
            paths,
        };
        let mut warnings: Diagnostics = store.left.damage.iter().map(AcceptedDamage::warning).collect();
        // While another run is at work there is nothing to know about interrupted ones.
        if !is_in_use {
            warnings.append(reconciled.warnings);
        }
        let mut state = reconciled.state;
        if let Some(state) = state.as_mut().filter(|_| was_blank) {
            // What only the journal knows was made by this program.
            state.terraform_version.clone_from(&store.terraform_version);
        }
        store.repair(reconciled.repair, state.as_mut())?;
        // The calls of a run that is still at work are its own.
        let in_flight = if is_in_use { Vec::new() } else { reconciled.in_flight };
        Ok((store, Opened { state, in_flight, warnings }))
    }

    fn repair(&mut self, repair: Repair, state: Option<&mut State>) -> Result<(), StateError> {
        match (repair, state) {
            // Without the lock, the journal may belong to a run at work.
            (Repair::SetAside, _) if self.lock.is_none() => Ok(()),
            // Without the lock nothing is written now; the first change catches up.
            (_, _) if self.lock.is_none() => {
                self.is_behind = self.left.is_unretired();
                Ok(())
            }
            (Repair::Write, Some(state)) => self.save(state).map(|_| ()),
            (Repair::Restore(bytes), Some(state)) => self.restore(&bytes, state),
            (Repair::SetAside, _) => self.set_journal_aside(),
            // All of it has reached the file, but the journal could not be retired any more.
            (_, state) if self.left.is_unretired() => self.retire_journal(state.map_or("", |state| &state.lineage)),
            _ => Ok(()),
        }
    }

    /// Puts a content into the half-written file that the journal still has.
    fn restore(&mut self, bytes: &[u8], state: &State) -> Result<(), StateError> {
        let file = self.file_to_write()?;
        let bytes = sealed(self.paths.encryption.as_deref(), bytes.to_vec())?;
        // The file may still hold the state from before the write that was interrupted.
        self.back_up(&*file)?;
        make_private(&file);
        replace_content(&*file, &[&bytes]).map_err(|error| StateError::io("write", &self.paths.write, &error))?;
        self.disk = Disk { serial: state.serial, ..Disk::written(Content::of(&bytes)) };
        self.paths.read.clone_from(&self.paths.write);
        self.retire_journal(&state.lineage)
    }

    fn set_journal_aside(&mut self) -> Result<(), StateError> {
        if self.lock.is_none() {
            return Ok(());
        }
        let path = self.paths.journal();
        let aside = suffixed(&path, &format!(".{:08x}", random_bits() >> 32));
        fs::rename(&path, &aside).map_err(|error| StateError::io("rename", &path, &error))?;
        // The journal of this run begins with nothing.
        self.left = Left::default();
        Ok(())
    }
}

/// The content of a state file and of its journal, as they were at one moment.
pub(super) struct Found {
    pub bytes: Vec<u8>,
    pub left: Left,
    pub journal: Option<Recovered>,
    /// Whether another process is at work on them.
    pub is_in_use: bool,
}

/// The number of attempts to read files that another process is writing, and the pause between them.
const ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

impl Found {
    /// Reads both. Under the lock nobody writes them meanwhile.
    pub fn read(paths: &StatePaths, lock: Option<&HeldLock>) -> Result<Self, StateError> {
        // The locked file is read through its own handle: on some systems, closing another one ends the lock.
        if let Some(lock) = lock {
            let bytes = if paths.read == paths.write && !is_stream(&paths.read) {
                lock.file.read_all().map_err(|error| StateError::io("read", &paths.read, &error))?
            } else {
                read_if_there(&paths.read)?.unwrap_or_default()
            };
            let bytes = match whole_commit(paths, &bytes)? {
                Some(whole) => {
                    let replaced = replace_content(&*lock.file, &[&whole]);
                    replaced.map_err(|error| StateError::io("write", &paths.write, &error))?;
                    whole
                }
                None => {
                    // What this run may leave unfinished must not be completed with an older commit.
                    forget_commit(paths);
                    bytes
                }
            };
            let (left, journal) = read_journal(paths, 0)?;
            return Ok(Self { bytes, left, journal, is_in_use: false });
        }
        let found = Self::read_without_lock(paths)?;
        let bytes = whole_commit(paths, &found.bytes)?.unwrap_or(found.bytes);
        Ok(Self { bytes, ..found })
    }

    /// Reads both again and again until nothing changes in between.
    ///
    /// Without a writer that is at once. With one a half-written content lasts as long as copying it does.
    fn read_without_lock(paths: &StatePaths) -> Result<Self, StateError> {
        // What a pipe has is there once.
        if is_stream(&paths.read) {
            let bytes = read_if_there(&paths.read)?.unwrap_or_default();
            let (left, journal) = read_journal(paths, 0)?;
            return Ok(Self { bytes, left, journal, is_in_use: false });
        }
        let mut attempt = 0;
        loop {
            attempt += 1;
            // The stamp from before and after the reads shows whether a writer came in between.
            let before = stamp(&paths.read);
            let bytes = read_if_there(&paths.read)?.unwrap_or_default();
            let journal = read_journal(paths, 0);
            let is_in_use = is_locked(&paths.write);
            let is_whole = journal.is_ok() && !is_unfinished(&bytes) && before == stamp(&paths.read);
            // Without a writer, a broken file or journal will not get better, so its error is final.
            if is_whole || !is_in_use || attempt == ATTEMPTS {
                let (left, journal) = journal?;
                return Ok(Self { bytes, left, journal, is_in_use });
            }
            thread::sleep(PAUSE);
        }
    }
}
