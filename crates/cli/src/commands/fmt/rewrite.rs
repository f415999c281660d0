//! Atomic replacement of a file's content.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes `content` to the file at `path` atomically: a full disk or a killed process leaves the old content intact. Links are
/// followed, and owner and permissions are preserved.
///
/// # Errors
/// The file is not writable, or the disk is full or fails.
pub(super) fn rewrite(path: &Path, content: &[u8]) -> io::Result<()> {
    // Replacing the link itself would turn it into a regular file.
    let path = &fs::canonicalize(path)?;
    // Opening for writing checks the permission: replacing a file needs only that of its directory.
    let old = OpenOptions::new().write(true).open(path)?.metadata()?;
    match replacement(path, &old) {
        Some(mut fresh) => {
            fresh.write_all(content)?;
            fresh.persist(path).map(drop).map_err(|error| error.error)
        }
        // Not atomic, but keeps hard links and foreign owners intact.
        None => fs::write(path, content),
    }
}

/// Creates an empty file that can replace the one at `path`. Returns `None` if a replacement would break hard links or change the
/// owner.
fn replacement(path: &Path, old: &Metadata) -> Option<NamedTempFile> {
    // A directory that is not writable, for example, leaves writing in place as the only way.
    let fresh = NamedTempFile::new_in(path.parent()?).ok()?;
    as_old(&fresh, old).ok()?;
    Some(fresh)
}

#[cfg(unix)]
fn as_old(fresh: &NamedTempFile, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    if old.nlink() > 1 {
        return Err(io::Error::other("the file has other hard links, which would keep the old content"));
    }
    let made = fresh.as_file().metadata()?;
    // Only the owner or root may give a file away; an unprivileged user gets an error and writes in place.
    if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
        fchown(fresh, Some(old.uid()), Some(old.gid()))?;
    }
    fresh.as_file().set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn as_old(fresh: &NamedTempFile, old: &Metadata) -> io::Result<()> {
    fresh.as_file().set_permissions(old.permissions())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn rewrite_keeps_permissions_and_links() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("main.tf"), folder.path().join("link.tf"));
        fs::write(&file, "old").unwrap();
        // Permissions that differ from those of a new file.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        let before = fs::metadata(&file).unwrap().ino();
        rewrite(&link, b"new").unwrap();
        let after = fs::metadata(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(after.mode() & 0o777, 0o640);
        // Another inode shows that the file was replaced and not written in place.
        assert_ne!(after.ino(), before, "it was written in place");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        // No temporary file remains.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn rewrite_keeps_hard_links() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one.tf"), folder.path().join("other.tf"));
        fs::write(&one, "old").unwrap();
        fs::hard_link(&one, &other).unwrap();
        // A replacement would leave the other name with the old content.
        rewrite(&one, b"new").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "new");
    }
}
