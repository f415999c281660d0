//! The file behind an emulator: an append-only log that several processes use together.
//!
//! A line is the CRC-32 of a record (eight hexadecimal digits), a space, and the record as JSON. A running process holds the
//! exclusive lock of the file, reads what others appended, appends, and lets go. A last line that was cut off by a crash
//! is dropped: its writer never told anyone about it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Records are on the disk after this long at most, as long as operations go on, and when the log is closed.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The start of the first record of every log.
pub const HEADER_START: &str = "{\"header\":";

/// The error of an emulator's file.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system refuses.
    #[error("cannot {action} the emulator's file {}: {source}", path.display())]
    File {
        /// The attempted operation.
        action: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file has other content, or is damaged before its end.
    #[error(
        "{} is not (or no longer) the file of an emulator: line {line} {problem}; move it away to start with an empty one",
        path.display()
    )]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The description of the damage.
        problem: String,
    },
}

/// The open log. Without a path it keeps nothing.
#[derive(Debug)]
pub struct Log {
    backing: Option<Backing>,
}

#[derive(Debug)]
struct Backing {
    path: PathBuf,
    file: File,
    read_to: u64,
    lines: usize,
    unsynced: bool,
    synced: Instant,
}

/// The required reaction to records that others appended.
#[derive(Debug, PartialEq, Eq)]
pub enum News {
    /// Go on from what it knows.
    Continued(Vec<u8>),
    /// Forget everything: the file was replaced.
    Replaced(Vec<u8>),
}

impl Log {
    /// A log that keeps nothing.
    pub fn in_memory() -> Self {
        Self { backing: None }
    }

    /// Opens the file, or creates an empty one.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let file = open_file(path).map_err(|source| LogError::File { action: "open", path: path.into(), source })?;
        let backing =
            Backing { path: path.into(), file, read_to: 0, lines: 0, unsynced: false, synced: Instant::now() };
        Ok(Self { backing: Some(backing) })
    }

    /// Waits for the exclusive use of the file; it ends when the guard is dropped.
    pub fn exclusive(&mut self) -> Result<Exclusive<'_>, LogError> {
        let replaced = match &mut self.backing {
            None => false,
            Some(backing) => backing.lock()?,
        };
        Ok(Exclusive { log: self, replaced })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(backing) = &mut self.backing
            && backing.unsynced
        {
            // Nobody is left to tell; the records are with the operating system in any case.
            let _ = backing.file.sync_data();
        }
    }
}

/// Exclusive use of a log.
#[derive(Debug)]
pub struct Exclusive<'a> {
    log: &'a mut Log,
    replaced: bool,
}

impl Exclusive<'_> {
    /// Returns the records that were appended since the last read: whole lines with unverified checksums.
    pub fn news(&mut self) -> Result<News, LogError> {
        let replaced = std::mem::take(&mut self.replaced);
        let Some(backing) = &mut self.log.backing else { return Ok(News::Continued(Vec::new())) };
        let length = backing.file.metadata().map_err(|source| backing.error("read", source))?.len();
        let replaced = replaced || length < backing.read_to;
        if replaced {
            backing.read_to = 0;
            backing.lines = 0;
        }
        let bytes = if length == backing.read_to { Vec::new() } else { backing.read_tail(length)? };
        Ok(if replaced { News::Replaced(bytes) } else { News::Continued(bytes) })
    }

    /// Calls `apply` for each record of the lines read.
    pub fn replay(&mut self, bytes: &[u8], mut apply: impl FnMut(&str) -> Result<(), String>) -> Result<(), LogError> {
        let Some(backing) = &mut self.log.backing else { return Ok(()) };
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            backing.lines += 1;
            check(line).and_then(&mut apply).map_err(|problem| LogError::Damaged {
                path: backing.path.clone(),
                line: backing.lines,
                problem,
            })?;
        }
        Ok(())
    }

    /// Appends one record to the log.
    pub fn append(&mut self, record: &str) -> Result<(), LogError> {
        let Some(backing) = &mut self.log.backing else { return Ok(()) };
        let line = format!("{:08x} {record}\n", crc32fast::hash(record.as_bytes()));
        backing.file.write_all(line.as_bytes()).map_err(|source| backing.error("write", source))?;
        backing.read_to += line.len() as u64;
        backing.lines += 1;
        backing.unsynced = true;
        if backing.synced.elapsed() >= SYNC_EVERY {
            backing.file.sync_data().map_err(|source| backing.error("write", source))?;
            backing.synced = Instant::now();
            backing.unsynced = false;
        }
        Ok(())
    }
}

impl Drop for Exclusive<'_> {
    fn drop(&mut self) {
        if let Some(backing) = &self.log.backing {
            // Closing the file lets go as well, should this fail.
            let _ = backing.file.unlock();
        }
    }
}

impl Backing {
    fn error(&self, action: &'static str, source: std::io::Error) -> LogError {
        LogError::File { action, path: self.path.clone(), source }
    }

    /// Locks the file that has the path now: someone may have moved or removed the one that is open. Tells whether it is
    /// another one.
    fn lock(&mut self) -> Result<bool, LogError> {
        let mut replaced = false;
        loop {
            self.file.lock().map_err(|source| self.error("lock", source))?;
            if is_same_file(&self.file, &self.path) {
                return Ok(replaced);
            }
            self.file = open_file(&self.path).map_err(|source| self.error("open", source))?;
            replaced = true;
        }
    }

    /// Returns the whole lines after the position of the last read; an incomplete last line is cut off the file.
    fn read_tail(&mut self, length: u64) -> Result<Vec<u8>, LogError> {
        let from = SeekFrom::Start(self.read_to);
        self.file.seek(from).map_err(|source| self.error("read", source))?;
        let mut bytes = Vec::with_capacity(usize::try_from(length - self.read_to).unwrap_or(0));
        self.file.read_to_end(&mut bytes).map_err(|source| self.error("read", source))?;
        if self.read_to == 0 && !begins_as_log(&bytes) {
            // Somebody else's file, named by mistake: it stays as it is.
            let problem = "is not a record".to_owned();
            return Err(LogError::Damaged { path: self.path.clone(), line: 1, problem });
        }
        let whole = whole_lines(&bytes);
        if whole < bytes.len() {
            bytes.truncate(whole);
            self.file.set_len(self.read_to + whole as u64).map_err(|source| self.error("write", source))?;
        }
        self.read_to += whole as u64;
        Ok(bytes)
    }
}

/// Returns the number of bytes of complete records: up to the last line break, without a last line with a wrong checksum.
fn whole_lines(bytes: &[u8]) -> usize {
    let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1) else { return 0 };
    let last = bytes[..end - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if check(&bytes[last..end]).is_ok() { end } else { last }
}

/// Whether the first line is a record, or the part of a header that was written before a crash.
fn begins_as_log(bytes: &[u8]) -> bool {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => check(&bytes[..=end]).is_ok(),
        None => {
            let (sum, rest) = bytes.split_at(bytes.len().min(8));
            let header = [b" ", HEADER_START.as_bytes()].concat();
            let common = rest.len().min(header.len());
            sum.iter().all(u8::is_ascii_hexdigit) && rest[..common] == header[..common]
        }
    }
}

fn check(line: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(line).map_err(|_| "is not text".to_owned())?;
    let text = text.strip_suffix('\n').ok_or_else(|| "has no end".to_owned())?;
    let (sum, record) = text.split_once(' ').ok_or_else(|| "has no checksum".to_owned())?;
    let expected = u32::from_str_radix(sum, 16).map_err(|_| "has no checksum".to_owned())?;
    if crc32fast::hash(record.as_bytes()) != expected {
        return Err("has a wrong checksum".to_owned());
    }
    Ok(record)
}

fn open_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600); // objects hold passwords and keys
    }
    options.open(path)
}

#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => open.ino() == named.ino() && open.dev() == named.dev(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_file(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(log: &mut Log) -> (bool, Vec<String>) {
        let mut exclusive = log.exclusive().unwrap();
        let (replaced, bytes) = match exclusive.news().unwrap() {
            News::Continued(bytes) => (false, bytes),
            News::Replaced(bytes) => (true, bytes),
        };
        let mut found = Vec::new();
        exclusive
            .replay(&bytes, |record| {
                found.push(record.to_owned());
                Ok(())
            })
            .unwrap();
        (replaced, found)
    }

    #[test]
    fn two_users_see_each_others_records() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let (mut one, mut other) = (Log::open(&path).unwrap(), Log::open(&path).unwrap());
        one.exclusive().unwrap().append("1").unwrap();
        assert_eq!(records(&mut other), (false, vec!["1".to_owned()]));
        other.exclusive().unwrap().append("2").unwrap();
        assert_eq!(records(&mut one), (false, vec!["2".to_owned()]));
        std::fs::remove_file(&path).unwrap();
        other.exclusive().unwrap().append("3").unwrap();
        assert_eq!(records(&mut one), (true, vec!["3".to_owned()]));
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_damage_before_it_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::open(&path).unwrap();
        for record in ["{\"header\":1}", "second", "third"] {
            log.exclusive().unwrap().append(record).unwrap();
        }
        drop(log);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut log = Log::open(&path).unwrap();
            let (_, found) = records(&mut log);
            assert!(
                found.len() <= 3 && ["{\"header\":1}", "second", "third"][..found.len()] == found[..],
                "cut at {cut}: {found:?}"
            );
            log.exclusive().unwrap().append("fourth").unwrap();
            drop(log);
            let (_, found) = records(&mut Log::open(&path).unwrap());
            assert_eq!(found.last().unwrap(), "fourth", "cut at {cut}");
        }
        let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 12;
        let mut damaged = whole;
        damaged[second] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        let mut log = Log::open(&path).unwrap();
        let mut exclusive = log.exclusive().unwrap();
        let News::Continued(bytes) = exclusive.news().unwrap() else { panic!() };
        assert!(matches!(exclusive.replay(&bytes, |_| Ok(())), Err(LogError::Damaged { line: 2, .. })));
    }

    #[test]
    fn somebody_elses_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main.tf");
        for text in ["x", "locals {}", "locals {}\n", "a\nb\nc", "0123abcd {\"other\"", "{}\n{}\n"] {
            std::fs::write(&path, text).unwrap();
            let mut log = Log::open(&path).unwrap();
            assert!(log.exclusive().unwrap().news().is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
