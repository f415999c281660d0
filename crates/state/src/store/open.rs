//! Opening files of a state: readable by their owner only, and locked as Terraform locks.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{StateError, StateErrorKind};
use crate::random::random_bits;
use crate::storage::{Storage, sync_folder};

/// Opens a file for reading and writing; makes it, and its folders, if need be. Made files are for their owner only.
pub(super) fn open_private(path: &Path) -> io::Result<File> {
    // A bare file name has an empty parent: the working directory, which exists.
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    let mut options = OpenOptions::new();
    // Not truncated: the lock is taken only after opening, and the content may belong to another run.
    options.read(true).write(true).create(true).truncate(false);
    private(&mut options);
    options.open(path)
}

/// The most bytes that are read from a device or a pipe, which may have no end.
const LONGEST_STREAM: u64 = 256 << 20;

/// The file's bytes; none when there is no such file.
///
/// # Errors
/// The file cannot be read, or is a device or a pipe without end.
pub(super) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, StateError> {
    let read = match is_stream(path) {
        true => read_stream(path, LONGEST_STREAM),
        false => fs::read(path),
    };
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        // A missing file is the usual case of a first run, not an error.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StateError::io("read", path, &error)),
    }
}

fn read_stream(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than the limit distinguishes a stream of exactly that length from a longer one.
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::other(format!("it is not a regular file, and has more than {} MiB", limit >> 20))),
        false => Ok(bytes),
    }
}

/// Whether `path` names a device, a pipe or a socket: it is written to as it is, never replaced, and may have no end.
pub(super) fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The error of keeping a state in a device or a pipe, if `path` names one: it would not be there for the next run.
pub(super) fn refuse_stream(path: &Path) -> Result<(), StateError> {
    if !is_stream(path) {
        return Ok(());
    }
    let detail = format!(
        "{} is a device or a pipe, which keeps nothing for the next run. Name a regular file. Nothing was changed.",
        path.display()
    );
    Err(StateError::new(StateErrorKind::Unsupported, format!("Failed to open {}", path.display()), detail))
}

/// Writes `bytes` atomically to the file at `path`, readable by its owner only: through a temporary file next to it.
///
/// A link is followed, so that what it points to is replaced. A device or a pipe is written to.
///
/// # Errors
/// The folder does not let a file be made, or the disk is full or fails. A file that was there before is still there then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = canonical(path);
    fill_whole(&path, &path, |file| file.write_all(bytes))
}

/// Writes the content of `source` into the backup at `path` of the state at `state`, as [`write_whole`] does.
pub(super) fn copy_whole(path: &Path, state: &Path, source: &dyn Storage) -> io::Result<()> {
    let path = canonical(path);
    // Backups have new names again and again: what a killed process leaves of one is named after the state.
    let named_after = path.with_file_name(state.file_name().unwrap_or_default());
    fill_whole(&path, &named_after, |file| source.read_pieces(&mut |piece| file.write_all(piece)))
}

fn canonical(path: &Path) -> PathBuf {
    // A file that does not exist yet cannot be resolved; it is created under the given name.
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn fill_whole(path: &Path, named_after: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    if is_stream(path) {
        // A rename would replace the device by a regular file.
        return OpenOptions::new().write(true).open(path).and_then(|mut file| fill(&mut file));
    }
    let (temporary, mut file) = temporary_file(named_after)?;
    // Synced before the rename: after a power loss the name must not refer to an incomplete file.
    let filled = fill(&mut file).and_then(|()| file.sync_all());
    let result = filled.and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // Nothing refers to it; what counts is the failure above.
        let _ = fs::remove_file(&temporary);
    }
    // The rename itself is durable only once its directory entry is on the disk.
    result.map(|()| sync_folder(path))
}

/// Makes a file beside another one, `.NAME.tmp`, and locks it. One that a killed process has left there is removed, which its
/// lock tells from one that is being written.
fn temporary_file(beside: &Path) -> io::Result<(PathBuf, File)> {
    let name = beside.file_name().unwrap_or_default().to_string_lossy();
    let usual = beside.with_file_name(format!(".{}.tmp", name.strip_prefix('.').unwrap_or(&name)));
    if let Ok(left) = OpenOptions::new().read(true).write(true).open(&usual)
        && try_lock(&left).unwrap_or_default()
        // Between opening and locking, its writer may have renamed the file to its final name.
        && is_at(&left, &usual)
    {
        fs::remove_file(&usual)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    private(&mut options);
    if let Ok(file) = options.open(&usual)
        && try_lock(&file).unwrap_or_default()
        && is_at(&file, &usual)
    {
        return Ok((usual, file));
    }
    // Another process is writing under the usual name, so a random suffix makes this one unique.
    let unusual = super::paths::suffixed(&usual, &format!(".{:08x}", random_bits() >> 32));
    let file = options.open(&unusual)?;
    Ok((unusual, file))
}

/// Makes an empty file for a backup of the file at `path`, under a name that was not taken: with the time in seconds, as
/// Terraform names them.
///
/// # Errors
/// The folder does not let a file be made.
pub fn claim_backup(path: &Path) -> io::Result<PathBuf> {
    let mut seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    private(&mut options);
    loop {
        let backup = super::paths::suffixed(path, &format!(".{seconds}.backup"));
        match options.open(&backup) {
            Ok(_) => return Ok(backup),
            // Several backups within one second: the next free second keeps Terraform's form of the name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => seconds += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    // States hold secrets, so neither the group nor others get access.
    options.mode(0o600);
}

#[cfg(not(unix))]
fn private(_: &mut OpenOptions) {}

/// Takes from others what an older file lets them do, since states hold secrets. The file of another owner stays as it
/// is: then it was given to us on purpose.
#[cfg(unix)]
pub(super) fn make_private(file: &File) {
    use std::os::unix::fs::PermissionsExt;
    let is_open = file.metadata().is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o077 != 0);
    if is_open {
        // The system refuses this for a file of another owner, which then keeps its mode.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
}

#[cfg(not(unix))]
pub(super) fn make_private(_: &File) {}

/// Returns the attributes of a file that change when it is written: a reader compares them from before and after.
pub(super) fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let known = fs::metadata(path).ok()?;
    Some((known.len(), known.modified().ok()?))
}

/// Whether the open file is still the one that `path` names.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        // Device and inode identify the file; after a rename the same path names another one.
        (Ok(own), Ok(found)) => (own.dev(), own.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
pub(super) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Takes the write lock on the whole file without waiting; says whether it did. It ends when the file is closed.
///
/// On Linux it is a lock of the open file, which excludes record locks, Terraform's kind, and does not end when another
/// part of this process closes the same file.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    use nix::fcntl::FcntlArg;
    lock_result(nix::fcntl::fcntl(file, FcntlArg::F_OFD_SETLK(&whole_file())))
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    use nix::fcntl::FcntlArg;
    lock_result(nix::fcntl::fcntl(file, FcntlArg::F_SETLK(&whole_file())))
}

/// Takes a read lock on the whole file without waiting; returns whether it did. Several processes can hold one, and nobody the
/// write lock meanwhile. It ends when the file is closed.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn try_lock_shared(file: &File) -> io::Result<bool> {
    use nix::fcntl::FcntlArg;
    lock_result(nix::fcntl::fcntl(file, FcntlArg::F_OFD_SETLK(&read_lock())))
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(super) fn try_lock_shared(file: &File) -> io::Result<bool> {
    use nix::fcntl::FcntlArg;
    lock_result(nix::fcntl::fcntl(file, FcntlArg::F_SETLK(&read_lock())))
}

#[cfg(unix)]
fn read_lock() -> nix::libc::flock {
    nix::libc::flock { l_type: nix::libc::F_RDLCK as nix::libc::c_short, ..whole_file() }
}

#[cfg(not(unix))]
pub(super) fn try_lock_shared(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Whether [`is_locked`] knows the locks of other processes. Elsewhere it finds every file unlocked.
pub(super) const CAN_QUERY_LOCKS: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// Whether another process, or another opening of the file in this one, holds a lock.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn is_locked(path: &Path) -> bool {
    use nix::fcntl::FcntlArg;
    let mut lock = whole_file();
    let Ok(file) = File::open(path) else { return false };
    let asked = nix::fcntl::fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock));
    asked.is_ok() && lock.l_type != nix::libc::F_UNLCK as nix::libc::c_short
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn is_locked(_: &Path) -> bool {
    false
}

#[cfg(unix)]
fn whole_file() -> nix::libc::flock {
    nix::libc::flock {
        l_type: nix::libc::F_WRLCK as nix::libc::c_short,
        l_whence: nix::libc::SEEK_SET as nix::libc::c_short,
        l_start: 0,
        // Zero means up to the end of the file, however long it grows.
        l_len: 0,
        l_pid: 0,
    }
}

#[cfg(unix)]
fn lock_result(result: nix::Result<i32>) -> io::Result<bool> {
    use nix::errno::Errno;
    match result {
        Ok(_) => Ok(true),
        // POSIX allows either error for a lock that another process holds.
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(not(unix))]
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Opens a file and locks it; `None` if another process holds the lock, or if the file was replaced or removed meanwhile: the lock of
/// the former file excludes nobody.
pub(super) fn open_locked(path: &Path) -> io::Result<Option<File>> {
    let file = open_private(path)?;
    let is_locked = try_lock(&file)? && is_at(&file, path);
    Ok(is_locked.then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_end_is_not_read_to_its_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), [0; 20]).unwrap();
        // A stream of exactly the limit is still accepted.
        assert_eq!(read_stream(file.path(), 20).unwrap().len(), 20);
        assert!(read_stream(file.path(), 19).unwrap_err().to_string().contains("not a regular file"));
    }
}
