//! The folder of a shared run on this machine: its journal, and a lock that ends with its process.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{StateError, StateErrorKind};
use crate::journal::SentNote;
use crate::storage::Storage;
use crate::store::open::{CAN_QUERY_LOCKS, is_at, is_locked, open_private, try_lock};
use crate::store::paths::StatePaths;

/// The number of attempts to lock a file that others remove at the same time.
const ATTEMPTS: u32 = 100;

/// The folder of one run among those of all runs of a state, with the file `RUN.run` next to it.
///
/// That file names the process that carries the run on, and is locked by it. So the other processes of this machine learn that the run
/// has ended long before its deadline, and are not misled by a file that was left here before another machine took the run over.
pub(super) struct RunFolder {
    folder: PathBuf,
    lock: PathBuf,
    /// Locked until this is dropped.
    file: File,
}

fn lock_path(runs: &Path, run: &str) -> PathBuf {
    runs.join(format!("{run}.run"))
}

impl RunFolder {
    /// Makes the folder, or takes over that of a process that has ended.
    ///
    /// # Errors
    /// Another process is at work in it, or the folder cannot be made.
    pub fn enter(runs: &Path, run: &str) -> Result<Self, StateError> {
        let lock = lock_path(runs, run);
        for _ in 0..ATTEMPTS {
            let file = match open_private(&lock) {
                // Another run has removed the empty folder of all runs.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.map_err(|error| StateError::io("open", &lock, &error))?,
            };
            if !try_lock(&file).map_err(|error| StateError::io("lock", &lock, &error))? {
                break;
            }
            // Its last holder may have removed the file, whose lock then tells nobody anything.
            if is_at(&file, &lock) {
                return Ok(Self { folder: runs.join(run), lock, file });
            }
        }
        Err(StateError::new(
            StateErrorKind::Locked,
            "The shared run is still at work",
            format!("Another process on this machine uses {}. Wait until it has ended.", lock.display()),
        ))
    }

    /// Names the process that carries the run on.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub fn set_process(&self, process: &str) -> Result<(), StateError> {
        let written = self.file.set_length(0).and_then(|()| self.file.write_at(process.as_bytes(), 0));
        written.map_err(|error| StateError::io("write", &self.lock, &error))
    }

    /// Returns the path whose journal is that of the run.
    pub fn state_path(&self) -> PathBuf {
        self.folder.join("terraform.tfstate")
    }

    /// Whether a process of a run was on this machine and has ended. Where that cannot be known, only the deadline of the run ends it.
    pub fn has_ended(runs: &Path, run: &str, process: &str) -> bool {
        let lock = lock_path(runs, run);
        // In this order: the process has written its name under the lock, which it keeps until its end.
        CAN_QUERY_LOCKS && fs::read_to_string(&lock).is_ok_and(|named| named == process) && !is_locked(&lock)
    }

    /// Returns the runs whose folders are on this machine.
    pub fn all(runs: &Path) -> Vec<String> {
        let entries = fs::read_dir(runs).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut all: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".run")?.to_owned())).collect();
        all.sort();
        all
    }

    /// Whether a process has left a journal here.
    pub fn has_journal(&self) -> bool {
        self.journal().exists()
    }

    fn journal(&self) -> PathBuf {
        StatePaths::of_file(self.state_path()).journal()
    }

    /// Removes the folder of a run that was left, unless it has a journal.
    pub fn remove(self) {
        // Without the file, no later run takes this one over. A damaged journal that was kept stays in the folder.
        if !self.has_journal() {
            SentNote::of(&self.journal()).remove();
            let _ = fs::remove_file(&self.lock);
        }
        // Removes nothing but empty folders.
        let _ = fs::remove_dir(&self.folder);
        if let Some(runs) = self.folder.parent() {
            let _ = fs::remove_dir(runs);
        }
    }
}
