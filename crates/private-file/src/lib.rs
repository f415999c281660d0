//! Private files that pass secrets to other programs.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// A file with a secret, such as a private key for `ssh`, that other programs of this user read by its [`path`](Self::path).
///
/// On Linux the file is in memory and has no name: its path leads through the file descriptors of this process, and it disappears when the
/// process ends, even if it is killed. It never reaches a disk. Elsewhere, and where `/proc` is not mounted, it is a temporary file, which is
/// deleted when this value is dropped.
///
/// Programs that were started by this process must have read the file before the value is dropped.
#[derive(Debug)]
pub struct PrivateFile(Content);

#[derive(Debug)]
enum Content {
    #[cfg(target_os = "linux")]
    Memory(memory::MemoryFile),
    Disk(NamedTempFile),
}

impl PrivateFile {
    /// Creates a file with this content that only this user may read.
    ///
    /// # Errors
    /// Fails if memory, file descriptors or disk space are exhausted.
    pub fn new(content: &[u8]) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = memory::MemoryFile::new(content)? {
            return Ok(Self(Content::Memory(file)));
        }
        // A temporary file is readable by its owner alone.
        let mut file = NamedTempFile::new()?;
        file.write_all(content)?;
        file.flush()?;
        Ok(Self(Content::Disk(file)))
    }

    /// Returns the path with which other programs of this user open the file.
    pub fn path(&self) -> &Path {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Content::Memory(file) => file.path(),
            Content::Disk(file) => file.path(),
        }
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use std::fs::{self, File, Permissions};
    use std::io::{self, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    use nix::sys::memfd::{MFdFlags, memfd_create};

    /// An anonymous memory file (`memfd`) that this process keeps open.
    #[derive(Debug)]
    pub(super) struct MemoryFile {
        /// Keeps the file descriptor open that the path refers to.
        _open: File,
        path: PathBuf,
    }

    impl MemoryFile {
        /// Returns `None` if the system has no memory files, or if `/proc` is not mounted.
        pub(super) fn new(content: &[u8]) -> io::Result<Option<Self>> {
            // Child processes must not inherit the descriptor; they open the path instead.
            let Ok(descriptor) = memfd_create(c"private", MFdFlags::MFD_CLOEXEC) else { return Ok(None) };
            let mut file = File::from(descriptor);
            // ssh refuses a key that others may read.
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(content)?;
            // The ID of this process instead of "self", because other processes open the path.
            let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
            let is_reachable = fs::metadata(&path).is_ok_and(|found| found.len() == content.len() as u64);
            Ok(is_reachable.then_some(Self { _open: file, path }))
        }

        pub(super) fn path(&self) -> &Path {
            &self.path
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn other_programs_read_the_file_as_often_as_they_want() {
        let file = PrivateFile::new(b"secret\n").unwrap();
        for _ in 0..2 {
            let read = Command::new("cat").arg(file.path()).output().unwrap();
            assert_eq!(read.stdout, b"secret\n", "{}", String::from_utf8_lossy(&read.stderr));
        }
        let path = file.path().to_owned();
        drop(file);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_this_user_may_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let file = PrivateFile::new(b"secret").unwrap();
        assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_file_is_on_no_disk() {
        let file = PrivateFile::new(b"secret").unwrap();
        assert!(file.path().starts_with("/proc"), "{}", file.path().display());
        let leads_to = std::fs::read_link(file.path()).unwrap();
        assert!(leads_to.to_string_lossy().starts_with("/memfd:"), "{}", leads_to.display());
    }
}
