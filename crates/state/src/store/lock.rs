//! Locks of local state files: a record lock of the operating system, with the lock info next to the file. Locks of remote backends are
//! in the crate `backend`: `manager::guard` and each store.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use std::{io, thread};

use serde::{Deserialize, Serialize};
use time::UtcDateTime;

use super::open::{is_at, open_private, try_lock};
use super::paths::{StatePaths, behind_links};
use crate::error::{StateError, StateErrorKind};
use crate::random::uuid;
use crate::storage::Storage;

const SUMMARY: &str = "Error acquiring the state lock";

/// The interval between attempts to take a lock.
const RETRY: Duration = Duration::from_millis(200);

/// Whether to take the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locking {
    /// No lock is taken (`-lock=false`).
    Off,
    /// The lock is held until the state is closed.
    On(LockRequest),
}

/// The information about the lock for other processes, and the time limit for taking it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// The operation that holds the lock, in Terraform's words: `OperationTypeApply`.
    pub operation: String,
    /// Further information about it; usually empty.
    pub info: String,
    /// `user@host`.
    pub who: String,
    /// The version of the program.
    pub version: String,
    /// The time to wait for another holder (`-lock-timeout`).
    pub timeout: Duration,
}

/// The information about a lock's holder: the content of `.terraform.tfstate.lock.info`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct LockInfo {
    /// The unique identifier of the lock.
    #[serde(rename = "ID")]
    pub id: String,
    /// The operation that holds the lock.
    pub operation: String,
    /// Further information about it.
    pub info: String,
    /// The user and host that hold it.
    pub who: String,
    /// The version of the holder's program.
    pub version: String,
    /// The time at which it was taken.
    pub created: String,
    /// The path of the state file.
    pub path: String,
    /// The time at which the lock ends unless its holder renews it; empty for a lock without end. Terraform and OpenTofu
    /// ignore it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub deadline: String,
}

impl LockInfo {
    /// Returns the info of a lock that is taken at `now`, without a path and a deadline.
    pub fn new(request: &LockRequest, id: String, now: SystemTime) -> Self {
        Self {
            id,
            operation: request.operation.clone(),
            info: request.info.clone(),
            who: request.who.clone(),
            version: request.version.clone(),
            created: rfc3339(now),
            path: String::new(),
            deadline: String::new(),
        }
    }
}

/// The lock, held until this is dropped.
pub(super) struct HeldLock {
    pub file: Arc<File>,
    path: PathBuf,
    info_path: PathBuf,
    /// Whether the state file was created for the lock. If it is still empty at the release, it is deleted.
    made: bool,
}

impl HeldLock {
    /// Takes the lock; waits as long as the request says and `keep_waiting` holds.
    pub fn take(
        paths: &StatePaths,
        request: &LockRequest,
        keep_waiting: &dyn Fn() -> bool,
    ) -> Result<Self, StateError> {
        let started = Instant::now();
        let mut made = false;
        loop {
            // Asked before opening, which creates the file.
            made |= !paths.write.exists();
            let file = open_private(&paths.write).map_err(|error| unlockable(paths, &error))?;
            let locked = try_lock(&file).map_err(|error| StateError::io("lock", &paths.write, &error))?;
            if locked && is_at(&file, &paths.write) {
                let path = behind_links(&paths.write);
                let held = Self { file: Arc::new(file), path, info_path: paths.lock_info(), made };
                return held.announce(paths, request).map(|()| held);
            }
            if locked {
                // Its last holder removed the empty file; the lock on what is no longer there protects nothing.
                continue;
            }
            let elapsed = started.elapsed();
            // Checked after an attempt, so that a timeout of zero still tries once.
            if elapsed >= request.timeout {
                return Err(held_by_other(paths));
            }
            // An interrupt must end the wait without an error about the other holder.
            if !keep_waiting() {
                return Err(StateError::new(
                    StateErrorKind::Interrupted,
                    SUMMARY,
                    "The wait for the state lock was interrupted. Nothing was changed.",
                ));
            }
            // The last pause is shortened, so that the wait never exceeds -lock-timeout.
            thread::sleep(RETRY.min(request.timeout - elapsed));
        }
    }

    fn announce(&self, paths: &StatePaths, request: &LockRequest) -> Result<(), StateError> {
        let info =
            LockInfo { path: paths.read.display().to_string(), ..LockInfo::new(request, uuid(), SystemTime::now()) };
        let json = serde_json::to_vec(&info).unwrap_or_default();
        let written = open_private(&self.info_path).and_then(|file| {
            // The end of a longer record by an earlier holder must not remain behind this one.
            file.set_length(0)?;
            file.write_at(&json, 0)
        });
        written.map_err(|error| StateError::io("write", &self.info_path, &error))
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // The system ends the lock with the file; the rest is tidiness that must not fail a run.
        let _ = fs::remove_file(&self.info_path);
        // Only an empty file that this run created is removed; any other may be a state.
        if self.made && is_at(&self.file, &self.path) && self.file.length().is_ok_and(|length| length == 0) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn unlockable(paths: &StatePaths, error: &io::Error) -> StateError {
    StateError::io("open", &paths.write, error).with_advice(
        "The lock that keeps other runs off is a lock of this file, which has to be opened for writing. A command that changes \
         nothing, such as plan, can do without: give it -lock=false.",
    )
}

pub(super) fn held_by_other(paths: &StatePaths) -> StateError {
    // The info file is only informative: without it the message still tells which file is in use.
    let holder = match read_info(&paths.lock_info()) {
        Some(info) => format!(
            "\n\nLock Info:\n  ID:        {}\n  Path:      {}\n  Operation: {}\n  Who:       {}\n  Version:   {}\n  \
             Created:   {}\n  Info:      {}",
            info.id, info.path, info.operation, info.who, info.version, info.created, info.info
        ),
        None => String::new(),
    };
    StateError::new(
        StateErrorKind::Locked,
        SUMMARY,
        format!(
            "Error message: resource temporarily unavailable: another process is using {}.{holder}\n\nTwo runs at once \
             would lose each other's changes. Wait until the other one has ended, or let this one wait with \
             -lock-timeout=60s. The lock ends with its process, so it is never left behind.",
            paths.write.display()
        ),
    )
}

fn read_info(path: &Path) -> Option<LockInfo> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// `2026-01-31T12:34:56.123456789Z`.
pub(super) fn rfc3339(moment: SystemTime) -> String {
    let moment = UtcDateTime::from(moment);
    let (year, month, day) = moment.to_calendar_date();
    let (hour, minute, second, nanosecond) = moment.as_hms_nano();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanosecond:09}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn a_lock_error_suggests_reading_without_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        // A file where the folder should be makes it impossible to open the state file for locking.
        fs::write(folder.path().join("file"), "").unwrap();
        let request = LockRequest {
            operation: String::new(),
            info: String::new(),
            who: String::new(),
            version: String::new(),
            timeout: Duration::ZERO,
        };
        let paths = StatePaths::of_file(folder.path().join("file/terraform.tfstate"));
        let Err(problem) = HeldLock::take(&paths, &request, &|| true) else { panic!("it was opened") };
        assert!(problem.detail.contains("-lock=false"), "{}", problem.detail);
    }

    #[test]
    fn dates_are_right_over_leap_years() {
        let at = |seconds| rfc3339(UNIX_EPOCH + Duration::new(seconds, 5));
        assert_eq!(at(0), "1970-01-01T00:00:00.000000005Z");
        // 2000 is a leap year although it is divisible by 100, because it is divisible by 400.
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000000005Z");
        assert_eq!(at(1_709_251_199), "2024-02-29T23:59:59.000000005Z");
        assert_eq!(at(1_795_257_000), "2026-11-21T10:30:00.000000005Z");
        // 2100 is not a leap year: March 1 follows February 28.
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.000000005Z");
    }
}
