//! File system metadata that identifies the content of a package without reading it.

use std::path::Path;
use std::time::SystemTime;

/// The metadata of all files of a package. Equal stamps mean equal content, under the conditions of [`Stamp::of`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Each file with the metadata that changes with its content.
    pub text: String,
    /// The latest change of any file.
    pub youngest: SystemTime,
}

#[cfg(target_os = "linux")]
impl Stamp {
    /// Returns the stamp of the package at `folder`, or `None` if metadata cannot prove that the package is unchanged:
    ///
    /// * It contains something other than files and directories. The target of a link may change while the link does not.
    /// * Users other than the owner may write to a file, or the owner is neither the current user nor root. A write through an earlier
    ///   memory mapping does not update the file's times until the system flushes it to disk.
    /// * The file system is not known to update the inode change time at each change and to protect it. Network and FUSE servers may
    ///   report any time; on tmpfs a write through a mapping leaves no trace.
    pub fn of(folder: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        let owner = nix::unistd::geteuid().as_raw();
        let mut files = Vec::new();
        let mut devices = Vec::new();
        let mut youngest = SystemTime::UNIX_EPOCH;
        let mut rest = vec![folder.to_owned()];
        while let Some(folder) = rest.pop() {
            for entry in std::fs::read_dir(folder).ok()? {
                let path = entry.ok()?.path();
                let facts = path.symlink_metadata().ok()?;
                if facts.is_dir() {
                    rest.push(path);
                    continue;
                }
                if !facts.is_file() || facts.mode() & 0o022 != 0 || ![owner, 0].contains(&facts.uid()) {
                    return None;
                }
                if !devices.contains(&facts.dev()) {
                    keeps_honest_times(&path).then(|| devices.push(facts.dev()))?;
                }
                let (seconds, nanoseconds) = (facts.ctime(), facts.ctime_nsec());
                let changed = u64::try_from(seconds).ok().zip(u32::try_from(nanoseconds).ok());
                let (seconds, nanoseconds) = changed?;
                youngest =
                    youngest.max(SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::new(seconds, nanoseconds))?);
                files.push(format!(
                    "{:?} dev {} inode {} mode {:o} owner {} size {} modified {}.{:09} changed {seconds}.{nanoseconds:09}\n",
                    path,
                    facts.dev(),
                    facts.ino(),
                    facts.mode(),
                    facts.uid(),
                    facts.size(),
                    facts.mtime(),
                    facts.mtime_nsec(),
                ));
            }
        }
        files.sort_unstable();
        (!files.is_empty()).then(|| Self { text: files.concat(), youngest })
    }
}

#[cfg(not(target_os = "linux"))]
impl Stamp {
    /// None: nothing is known here of what the times of files are worth.
    pub fn of(_: &Path) -> Option<Self> {
        None
    }
}

#[cfg(target_os = "linux")]
fn keeps_honest_times(file: &Path) -> bool {
    use nix::sys::statfs::{
        BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, XFS_SUPER_MAGIC, statfs,
    };
    let known = [BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, XFS_SUPER_MAGIC];
    statfs(file).is_ok_and(|facts| known.contains(&facts.filesystem_type()))
}
