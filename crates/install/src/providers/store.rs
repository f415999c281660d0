//! Directories of installed packages: of one configuration, and the shared plugin cache.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use groma_address::ProviderAddress;
use groma_config::version::Version;
use groma_diagnostics::io_reason;

use super::filesystem::package_folder;
use super::hash::folder_hash;
use super::notes::HashCache;
use super::platform::Platform;
use crate::archive::{Archive, Limits, Links};

/// The delay before another attempt to lock.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// A directory of unpacked packages: `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
    notes: Option<HashCache>,
}

impl Store {
    /// Uses the store at `root`, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), notes: None }
    }

    /// Uses the store at `root`, with cached package hashes in the directory `notes`.
    pub fn with_hash_cache(root: impl Into<PathBuf>, notes: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), notes: Some(HashCache::new(notes)) }
    }

    /// The root directory, which need not exist yet.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of a package, whether it exists or not.
    pub fn folder(&self, address: &ProviderAddress, version: &Version, platform: &Platform) -> PathBuf {
        package_folder(&self.root, address, version, platform)
    }

    /// Computes the hash of an installed package from its files.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub(super) fn hash(&self, package: &Path) -> io::Result<Arc<str>> {
        self.hash_among(package, &[])
    }

    /// Returns the hash of an installed package. Reads no files if the cache confirms one of the hashes in `wanted`.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub(super) fn hash_among(&self, package: &Path, wanted: &[Arc<str>]) -> io::Result<Arc<str>> {
        match &self.notes {
            Some(notes) => notes.hash(package, wanted),
            None => folder_hash(package),
        }
    }

    /// Locks the installation of `target` against other processes until the returned file is dropped. Returns none if
    /// the file system has no locks: packages are installed atomically anyway, and only the work is done twice.
    pub(super) async fn hold(&self, target: &Path) -> Option<File> {
        let parent = target.parent()?;
        fs::create_dir_all(parent).ok()?;
        // Hidden and next to the package, where listings of packages ignore it.
        let name = format!(".{}.lock", target.file_name()?.to_string_lossy());
        let unpacking = unpacking(target);
        let file = File::options().create(true).truncate(false).write(true).open(parent.join(name)).ok()?;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    // No other process unpacks this package now, so the temporary directories are those of killed runs.
                    remove_all(parent, &unpacking);
                    return Some(file);
                }
                // Waits without blocking the thread, so that other downloads of this process continue.
                Err(TryLockError::WouldBlock) => tokio::time::sleep(BETWEEN_TRIES).await,
                Err(TryLockError::Error(_)) => return None,
            }
        }
    }

    /// Unpacks an archive into the directory of a package, atomically for other processes.
    ///
    /// # Errors
    /// Fails if the archive is damaged or refused, or if the directory cannot be written to. Leaves nothing behind
    /// then.
    pub(super) fn put_archive(&self, archive: &File, target: &Path) -> io::Result<()> {
        let parent = parent(target)?;
        let cannot = |error| cannot_write(parent, &error);
        fs::create_dir_all(parent).map_err(cannot)?;
        let result = (|| {
            // On the same file system as the target, so that a rename puts the package in place at once.
            let scratch = tempfile::Builder::new().prefix(&unpacking(target)).tempdir_in(parent).map_err(cannot)?;
            let fresh = scratch.path().join("package");
            Archive::Zip.unpack(archive.try_clone()?, &fresh, "", Links::Refused, Limits::PROVIDER)?;
            replace(&fresh, target, scratch.path()).map_err(cannot)
        })();
        if result.is_err() {
            self.remove_empty(parent);
        }
        result
    }

    /// Installs the directory at `source` as a package, by a link.
    ///
    /// # Errors
    /// Fails if the directory cannot be written to.
    pub(super) fn put_link(&self, source: &Path, target: &Path) -> io::Result<()> {
        let parent = parent(target)?;
        fs::create_dir_all(parent)?;
        let scratch = tempfile::Builder::new().prefix(".linking-").tempdir_in(parent)?;
        let fresh = scratch.path().join("package");
        // The link must not depend on the working directory.
        link(&source.canonicalize()?, &fresh)?;
        replace(&fresh, target, scratch.path())
    }

    /// Removes a package and the parent directories that become empty.
    pub(super) fn remove(&self, target: &Path) {
        // Only the link goes: the directory in the shared cache or the user's mirror stays.
        if target.is_symlink() {
            let _ = fs::remove_file(target);
        } else {
            let _ = fs::remove_dir_all(target);
        }
        if let Some(parent) = target.parent() {
            self.remove_empty(parent);
        }
    }

    fn remove_empty(&self, from: &Path) {
        let mut folder = Some(from);
        while let Some(path) = folder.filter(|path| path.starts_with(&self.root)) {
            // A directory that is not empty cannot be removed, and stays.
            if fs::remove_dir(path).is_err() {
                return;
            }
            folder = path.parent();
        }
    }
}

/// Returns the prefix of the temporary directories for `target`.
fn unpacking(target: &Path) -> String {
    format!(".unpacking-{}-", target.file_name().unwrap_or_default().to_string_lossy())
}

/// Removes the directories in `parent` with this prefix, as far as possible.
fn remove_all(parent: &Path, beginning: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(beginning) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn parent(target: &Path) -> io::Result<&Path> {
    target.parent().ok_or_else(|| io::Error::other("a package needs a folder to be in"))
}

fn cannot_write(folder: &Path, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("cannot install packages into {}: {error}", folder.display(), error = io_reason(error)),
    )
}

/// Replaces `target` with `fresh`. Moves the old directory to `scratch`, which is deleted later.
fn replace(fresh: &Path, target: &Path, scratch: &Path) -> io::Result<()> {
    // A directory cannot be replaced in one step, so another process may put its own in between.
    for attempt in 0..3 {
        if target.symlink_metadata().is_ok() {
            // Another process may have moved it already.
            let _ = fs::rename(target, scratch.join(format!("old-{attempt}")));
        }
        match fs::rename(fresh, target) {
            Ok(()) => return Ok(()),
            Err(error) if attempt == 2 => return Err(error),
            Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(source: &Path, target: &Path) -> io::Result<()> {
    // Other systems require privileges for links, so packages are copied there.
    std::os::unix::fs::symlink(source, target)
}

#[cfg(not(unix))]
fn link(source: &Path, target: &Path) -> io::Result<()> {
    fs::create_dir(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let to = target.join(entry.file_name());
        if entry.file_type()?.is_dir() { link(&entry.path(), &to)? } else { fs::copy(entry.path(), to).map(drop)? }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwritable_directory_is_named() {
        let folder = tempfile::tempdir().unwrap();
        // A file instead of a directory: permissions would not stop root, who runs tests in containers.
        fs::write(folder.path().join("example.com"), "no folder").unwrap();
        let target = folder.path().join("example.com/acme/linux_amd64");
        let problem =
            Store::new(folder.path()).put_archive(&tempfile::tempfile().unwrap(), &target).unwrap_err().to_string();
        let directory = target.parent().unwrap().display();
        assert!(problem.starts_with(&format!("cannot install packages into {directory}: ")), "{problem}");
    }

    #[tokio::test]
    async fn next_lock_removes_leftovers_of_killed_runs() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let target = folder.path().join("linux_amd64");
        let [left, other] =
            [".unpacking-linux_amd64-Ab1", ".unpacking-darwin_arm64-Cd2"].map(|name| folder.path().join(name));
        for path in [&left, &other, &target] {
            fs::create_dir_all(path.join("package")).unwrap();
        }
        let held = store.hold(&target).await;
        assert!(held.is_some() && !left.exists());
        // Another process may be unpacking the package of another platform.
        assert!(other.exists() && target.exists());
    }
}
