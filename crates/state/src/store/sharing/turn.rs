//! Turns of runs on one machine to write a shared state.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::random::random_bits;
use crate::store::open::open_locked;

/// The longest pause between attempts to get the turn, in milliseconds.
const PAUSE: u64 = 8;

/// The number of those attempts: some seconds.
const ATTEMPTS: u32 = 1500;

/// The turn of a run to merge its records into the state, which ends when this is dropped.
///
/// A write has its own condition, so that a turn only saves work: of runs that merge at the same time, all but one would merge in vain.
pub struct WriteTurn {
    path: PathBuf,
    /// Locked until this is dropped.
    _file: File,
}

impl WriteTurn {
    /// Waits for the turn; `None` if another process keeps it for several seconds, or if the file cannot be locked.
    pub(super) fn take(path: &Path) -> Option<Self> {
        for _ in 0..ATTEMPTS {
            if let Some(file) = open_locked(path).ok()? {
                return Some(Self { path: path.to_owned(), _file: file });
            }
            thread::sleep(Duration::from_millis(1 + random_bits() % PAUSE));
        }
        None
    }
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn one_at_a_time_has_the_turn_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("turn");
        let (inside, taken) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let turn = WriteTurn::take(&path).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    thread::sleep(Duration::from_millis(2));
                    inside.fetch_sub(1, Ordering::SeqCst);
                    taken.fetch_add(1, Ordering::SeqCst);
                    drop(turn);
                });
            }
        });
        assert_eq!(taken.into_inner(), 8);
        assert!(!path.exists());
    }

    #[test]
    fn nobody_waits_for_a_file_that_cannot_be_made() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(WriteTurn::take(&file.path().join("turn")).is_none());
    }
}
