//! Package hashes of the lock file: `h1:` of the files of a package, `zh:` of its archive. A [`Stamp`] tells whether
//! the files have changed since they were hashed.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use crate::archive::{Limits, readable};
use crate::hex;

/// Whether the scheme of a hash is supported.
pub fn is_checksum(hash: &str) -> bool {
    hash.starts_with("h1:") || hash.starts_with("zh:")
}

/// Returns the `zh:` hash of an archive: its SHA-256 checksum.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn archive_hash(mut archive: impl Read + Seek) -> io::Result<Arc<str>> {
    // The file may have been written or read before.
    archive.rewind()?;
    Ok(format!("zh:{}", hex(&digest(&mut archive)?)).into())
}

/// Returns the `h1:` hash of the files in an archive. The unpacked directory has the same hash.
///
/// # Errors
/// Fails if the file cannot be read, is not a zip archive, exceeds the limits of a package, or has a name with a line
/// break.
pub fn content_hash(archive: &mut ZipArchive<impl Read + Seek>) -> io::Result<Arc<str>> {
    let mut lines = Vec::with_capacity(archive.len());
    let mut left = Limits::PROVIDER.bytes;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(io::Error::other)?;
        // Go's algorithm hashes files only, so that empty directories make no difference.
        if !entry.is_dir() {
            let name = entry.name().map_err(io::Error::other)?.into_owned();
            // The archive is not verified yet, and a small one may contain any amount of data.
            let mut bounded = entry.by_ref().take(left);
            let sum = hex(&digest(&mut bounded)?);
            left = bounded.limit();
            if left == 0 {
                let most = readable(Limits::PROVIDER.bytes);
                return Err(io::Error::other(format!(
                    "it unpacks to more than {most}, the limit for the package of a provider"
                )));
            }
            lines.push((name, sum));
        }
    }
    listing_hash(lines)
}

/// Returns the `h1:` hash of the files in a directory.
///
/// # Errors
/// Fails if a file cannot be read or has a name with a line break.
pub fn folder_hash(folder: &Path) -> io::Result<Arc<str>> {
    let mut lines = Vec::new();
    let mut rest = vec![(folder.canonicalize()?, String::new())];
    while let Some((folder, prefix)) = rest.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                // Always a slash, so that the hash is the same on Windows.
                rest.push((entry.path(), format!("{name}/")));
            } else {
                lines.push((name, hex(&digest(&mut File::open(entry.path())?)?)));
            }
        }
    }
    listing_hash(lines)
}

/// Hashes a file list as Go's checksum database defines. Names with line breaks are refused: two packages could have
/// one list.
fn listing_hash(mut lines: Vec<(String, String)>) -> io::Result<Arc<str>> {
    // Archives and directories list their files in different orders.
    lines.sort_unstable();
    let mut hasher = Sha256::new();
    for (name, sum) in lines {
        if name.contains('\n') {
            return Err(io::Error::other(format!(
                "the file name {name:?} has a line break, which a package must not have"
            )));
        }
        // The format of `sha256sum`, which the algorithm prescribes.
        hasher.update(format!("{sum}  {name}\n"));
    }
    Ok(format!("h1:{}", STANDARD.encode(hasher.finalize())).into())
}

fn digest(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut hasher = Sha256::new();
    // Packages have hundreds of megabytes, so they are not read at once.
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().to_vec()),
            length => hasher.update(buffer.get(..length).unwrap_or_default()),
        }
    }
}

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
                // Directories are not recorded: what is added or removed in them shows in the list of files.
                if facts.is_dir() {
                    rest.push(path);
                    continue;
                }
                if !facts.is_file() || facts.mode() & 0o022 != 0 || ![owner, 0].contains(&facts.uid()) {
                    return None;
                }
                if !devices.contains(&facts.dev()) {
                    // One query per device: it is the same for all of its files.
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
        // The order of a directory listing may change without any change of the files.
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
    // A list of the known good ones: any other file system may be remote or synthetic.
    let known = [BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, XFS_SUPER_MAGIC];
    statfs(file).is_ok_and(|facts| known.contains(&facts.filesystem_type()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Archive, Links};
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    #[test]
    fn archive_and_unpacked_directory_have_the_same_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        // "a-b" precedes "a/c" in bytes, and follows it where directories are listed as a whole.
        for name in ["b", "a/c", "a-b"] {
            writer.start_file(name, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
            writer.write_all(name.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
        let target = folder.path().join("unpacked");
        Archive::Zip.unpack(File::open(&path).unwrap(), &target, "", Links::Refused, Limits::PROVIDER).unwrap();
        let mut archive = ZipArchive::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(content_hash(&mut archive).unwrap(), folder_hash(&target).unwrap());
    }

    #[test]
    fn file_names_with_line_breaks_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), "x").unwrap();
        write("a");
        assert!(folder_hash(folder.path()).is_ok());
        write("b\n00  c");
        assert!(folder_hash(folder.path()).unwrap_err().to_string().contains("line break"));
    }
}
