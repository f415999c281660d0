//! Shared states in local files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::object::{SharedObject, Versioned};
use super::turn::WriteTurn;
use crate::content::{Content, is_unfinished, replace_content};
use crate::error::{StateError, StateErrorKind};
use crate::journal::SegmentStore;
use crate::random::random_bits;
use crate::store::lock::{LockInfo, held_by_other};
use crate::store::open::{
    CAN_QUERY_LOCKS, is_at, is_locked, make_private, open_locked, open_private, read_if_there, stamp, try_lock_shared,
    write_whole,
};
use crate::store::paths::{StatePaths, behind_links, hidden};

/// The pause between attempts to lock the document, which others lock for the time of one write.
const PAUSE: Duration = Duration::from_millis(2);

/// The number of those attempts: some seconds.
const ATTEMPTS: u32 = 5000;

/// The number of attempts to read a state that another process is writing, before it is read as it is.
const READS: u32 = 500;

/// The time after a write during which another one may leave the same time of modification.
const CLOCK_TICK: Duration = Duration::from_millis(20);

/// A state file with its sharing document, `.terraform.tfstate.groma-sharing`.
///
/// Shared runs hold the read lock of the file together, which excludes the write lock of Terraform and OpenTofu. They write one at a
/// time under the lock of the document: the new content first into `.terraform.tfstate.groma-commit`, then in place, because a
/// renamed file would escape the locks of others.
pub struct LocalShared {
    paths: StatePaths,
    held: Mutex<Option<File>>,
}

impl LocalShared {
    /// Returns the shared object of a state file.
    pub fn new(paths: StatePaths) -> Self {
        Self { paths, held: Mutex::default() }
    }

    /// Returns the folder of the journals of runs.
    pub fn runs(&self) -> PathBuf {
        runs_folder(&behind_links(&self.paths.write))
    }

    fn document(&self) -> PathBuf {
        hidden(&behind_links(&self.paths.write), ".groma-sharing")
    }

    fn commit(&self) -> PathBuf {
        hidden(&behind_links(&self.paths.write), ".groma-commit")
    }

    fn failed(&self, action: &str, error: &io::Error) -> StateError {
        StateError::io(action, &self.paths.write, error)
    }

    /// Does something while no other process writes the document or the state.
    fn locked<T>(&self, action: impl FnOnce() -> Result<T, StateError>) -> Result<T, StateError> {
        let path = self.document();
        for _ in 0..ATTEMPTS {
            if let Some(_file) = open_locked(&path).map_err(|error| StateError::io("lock", &path, &error))? {
                return action();
            }
            thread::sleep(PAUSE);
        }
        Err(StateError::new(
            StateErrorKind::Io,
            format!("Failed to lock {}", path.display()),
            "Another process has been writing the shared state for several seconds. Wait until it has finished, or stop it; then run the command \
             again.",
        ))
    }

    /// Reads the state under the lock. An unfinished one was left by a killed process, and is completed.
    fn read_locked(&self) -> Result<Option<Vec<u8>>, StateError> {
        let found = read_if_there(&self.paths.write)?;
        if !found.as_ref().is_some_and(|bytes| is_unfinished(bytes)) {
            return Ok(found);
        }
        let Some(bytes) = read_if_there(&self.commit())? else { return Ok(found) };
        self.replace(&bytes)?;
        Ok(Some(bytes))
    }

    fn replace(&self, bytes: &[u8]) -> Result<(), StateError> {
        let file = open_private(&self.paths.write).map_err(|error| self.failed("open", &error))?;
        make_private(&file);
        replace_content(&file, &[bytes]).map_err(|error| self.failed("write", &error))?;
        // Another write replaces what is left of this one.
        let _ = fs::remove_file(self.commit());
        Ok(())
    }
}

/// Returns the folder of the runs of a state next to `path`.
fn runs_folder(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{}.groma-runs", name.strip_prefix('.').unwrap_or(&name)))
}

/// Returns the content of a state file that a killed shared run has left unfinished; `None` for any other content.
///
/// # Errors
/// The copy of the content cannot be read.
pub(in crate::store) fn whole_commit(paths: &StatePaths, found: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
    match is_unfinished(found) {
        true => read_if_there(&LocalShared::new(paths.clone()).commit()),
        false => Ok(None),
    }
}

/// Removes the copy of a content that a killed shared run was about to write.
pub(in crate::store) fn forget_commit(paths: &StatePaths) {
    // There is hardly ever one.
    let _ = fs::remove_file(LocalShared::new(paths.clone()).commit());
}

/// Reads a file without a lock; `None` if it was written meanwhile, so that parts of two contents may have been read.
fn settled<T>(path: &Path, read: impl FnOnce() -> T) -> Option<T> {
    let before = stamp(path);
    let found = read();
    let is_recent = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age < CLOCK_TICK);
    let is_settled = before == stamp(path) && !before.is_some_and(|(_, modified)| is_recent(modified));
    is_settled.then_some(found)
}

/// Whether a content is one that nobody is writing: a JSON document to its end.
fn is_whole(bytes: &[u8]) -> bool {
    !is_unfinished(bytes) && bytes.trim_ascii_end().ends_with(b"}")
}

fn unsupported_system() -> StateError {
    StateError::new(
        StateErrorKind::Unsupported,
        "Sharing not supported",
        format!(
            "Local states can be shared on Linux only: {} does not tell whether another process is writing the file. Use a backend with \
             a remote store, such as s3 or pg.",
            std::env::consts::OS
        ),
    )
}

fn version(bytes: &[u8]) -> String {
    let Content { length, checksum } = Content::of(bytes);
    format!("{length}-{checksum:08x}")
}

fn versioned(bytes: Vec<u8>) -> Versioned {
    Versioned { version: version(&bytes), bytes: bytes.into() }
}

impl SharedObject for LocalShared {
    fn location(&self) -> String {
        self.paths.write.display().to_string()
    }

    fn check_support(&self) -> Result<(), StateError> {
        match CAN_QUERY_LOCKS {
            true => Ok(()),
            false => Err(unsupported_system()),
        }
    }

    fn read_state(&self) -> Result<Option<Versioned>, StateError> {
        for _ in 0..READS {
            match settled(&self.paths.write, || read_if_there(&self.paths.write)).transpose()? {
                None => thread::sleep(PAUSE),
                // Terraform and OpenTofu truncate the file before they write it.
                Some(Some(bytes)) if !is_whole(&bytes) && is_locked(&self.paths.write) => thread::sleep(PAUSE),
                // Nobody goes on with it: a killed shared run has left it.
                Some(Some(bytes)) if is_unfinished(&bytes) => break,
                Some(found) => return Ok(found.map(versioned)),
            }
        }
        Ok(self.locked(|| self.read_locked())?.map(versioned))
    }

    fn write_turn(&self) -> Option<WriteTurn> {
        WriteTurn::take(&hidden(&behind_links(&self.paths.write), ".groma-turn"))
    }

    fn write_state(&self, bytes: &Bytes, expected: &str) -> Result<String, StateError> {
        self.locked(|| {
            let found = self.read_locked()?.unwrap_or_default();
            if version(&found) != expected {
                return Err(super::super::disk::changed_meanwhile(&self.paths.write));
            }
            write_whole(&self.commit(), bytes).map_err(|error| StateError::io("write", &self.commit(), &error))?;
            self.replace(bytes)?;
            Ok(version(bytes))
        })
    }

    fn read_document(&self) -> Result<Option<Versioned>, StateError> {
        let found = read_if_there(&self.document())?;
        Ok(found.filter(|bytes| !bytes.is_empty()).map(versioned))
    }

    fn write_document(&self, bytes: &Bytes, expected: Option<&str>) -> Result<(), StateError> {
        self.locked(|| {
            let found = self.read_document()?;
            if found.as_ref().map(|found| &*found.version) != expected {
                return Err(super::super::disk::changed_meanwhile(&self.document()));
            }
            write_whole(&self.document(), bytes).map_err(|error| StateError::io("write", &self.document(), &error))
        })
    }

    fn hold_lock(&self, info: &LockInfo) -> Result<(), StateError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            return Ok(());
        }
        let file = File::open(&self.paths.write).map_err(|error| self.failed("open", &error))?;
        let is_locked = try_lock_shared(&file).map_err(|error| self.failed("lock", &error))?;
        if !is_locked || !is_at(&file, &self.paths.write) {
            return Err(held_by_other(&self.paths));
        }
        // Terraform and OpenTofu read the holder from this file.
        self.locked(|| {
            let path = self.paths.lock_info();
            let info = LockInfo { path: self.location(), ..info.clone() };
            let json = serde_json::to_vec(&info).unwrap_or_default();
            if path.exists() {
                return Ok(());
            }
            write_whole(&path, &json).map_err(|error| StateError::io("write", &path, &error))
        })?;
        *held = Some(file);
        Ok(())
    }

    fn release_lock(&self, is_last: &dyn Fn() -> Result<bool, StateError>) -> Result<(), StateError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            return Ok(());
        }
        // A run enters the document before it writes the info, so that the info of a run at work stays.
        let removed = self.locked(|| {
            if is_last()? {
                let _ = fs::remove_file(self.paths.lock_info());
            }
            Ok(())
        });
        *held = None;
        removed
    }

    fn journals(&self) -> Option<Arc<dyn SegmentStore>> {
        None
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, pause: Duration) {
        thread::sleep(pause);
    }

    fn random(&self) -> u64 {
        random_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_during_a_write_is_not_settled() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = |text: &str| fs::write(file.path(), text).unwrap();
        write("one");
        assert_eq!(settled(file.path(), || ()), None, "another write may leave the same time");
        thread::sleep(2 * CLOCK_TICK);
        assert_eq!(settled(file.path(), || 1), Some(1));
        assert_eq!(settled(file.path(), || write("two")), None);
        thread::sleep(2 * CLOCK_TICK);
        assert_eq!(settled(file.path(), || write("longer")), None);
        assert_eq!(settled(Path::new("/no/such/file"), || 1), Some(1));
    }
}
