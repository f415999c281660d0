//! Reading a state and its journal while another process may be writing them.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::left::{Left, read_journal};
use super::lock::HeldLock;
use super::open::{is_locked, is_stream, read_if_there};
use super::paths::StatePaths;
use crate::content::is_unfinished;
use crate::error::StateError;
use crate::journal::Recovered;
use crate::storage::Storage;

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
        if let Some(lock) = lock {
            let bytes = if paths.read == paths.write && !is_stream(&paths.read) {
                lock.file.read_all().map_err(|error| StateError::io("read", &paths.read, &error))?
            } else {
                read_if_there(&paths.read)?.unwrap_or_default()
            };
            let (left, journal) = read_journal(paths)?;
            return Ok(Self { bytes, left, journal, is_in_use: false });
        }
        Self::read_without_lock(paths)
    }

    /// Reads both again and again until nothing changes in between.
    ///
    /// Without a writer that is at once. With one a half-written content lasts as long as copying it does.
    fn read_without_lock(paths: &StatePaths) -> Result<Self, StateError> {
        // What a pipe has is there once.
        if is_stream(&paths.read) {
            let bytes = read_if_there(&paths.read)?.unwrap_or_default();
            let (left, journal) = read_journal(paths)?;
            return Ok(Self { bytes, left, journal, is_in_use: false });
        }
        let mut attempt = 0;
        loop {
            attempt += 1;
            let before = stamp(&paths.read);
            let bytes = read_if_there(&paths.read)?.unwrap_or_default();
            let journal = read_journal(paths);
            let is_in_use = is_locked(&paths.write);
            let is_whole = journal.is_ok() && !is_unfinished(&bytes) && before == stamp(&paths.read);
            if is_whole || !is_in_use || attempt == ATTEMPTS {
                let (left, journal) = journal?;
                return Ok(Self { bytes, left, journal, is_in_use });
            }
            thread::sleep(PAUSE);
        }
    }
}

/// The attributes of a file that change when it is written.
fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let known = fs::metadata(path).ok()?;
    Some((known.len(), known.modified().ok()?))
}
