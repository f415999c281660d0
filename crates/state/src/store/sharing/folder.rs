//! The folder of a shared run on this machine: its journal, and a lock that ends with its process.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::{StateError, StateErrorKind};
use crate::store::open::{is_locked, open_private, try_lock};

/// The folder of one run among those of all runs of a state. Its lock tells the other processes of this machine that the run
/// is at work, long before a deadline does.
pub(super) struct RunFolder {
    folder: PathBuf,
    lock: PathBuf,
    /// Locked until this is dropped.
    _file: File,
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
        let file = open_private(&lock).map_err(|error| StateError::io("open", &lock, &error))?;
        if !try_lock(&file).map_err(|error| StateError::io("lock", &lock, &error))? {
            return Err(StateError::new(
                StateErrorKind::Locked,
                "The shared run is still at work",
                format!("Another process on this machine uses {}. Wait until it has ended.", lock.display()),
            ));
        }
        Ok(Self { folder: runs.join(run), lock, _file: file })
    }

    /// Returns the path whose journal is that of the run.
    pub fn state_path(&self) -> PathBuf {
        self.folder.join("terraform.tfstate")
    }

    /// Whether the process of a run was on this machine and has ended.
    pub fn has_ended(runs: &Path, run: &str) -> bool {
        let lock = lock_path(runs, run);
        lock.exists() && !is_locked(&lock)
    }

    /// Returns the runs whose folders are on this machine and whose processes have ended.
    pub fn left(runs: &Path) -> Vec<String> {
        let entries = fs::read_dir(runs).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut left: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".run")?.to_owned())).collect();
        left.retain(|run| Self::has_ended(runs, run));
        left.sort();
        left
    }

    /// Removes the folder of a run that was left.
    pub fn remove(self) {
        // Removes nothing but empty folders: a journal in it stays.
        let _ = fs::remove_dir(&self.folder);
        if !self.folder.exists() {
            let _ = fs::remove_file(&self.lock);
        }
        if let Some(runs) = self.folder.parent() {
            let _ = fs::remove_dir(runs);
        }
    }
}
