//! An on-disk cache of provider schemas. Large providers take seconds to return theirs, which never change for a
//! version.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use prost::Message;

use super::schemas::RawSchemas;
use crate::Protocol;
use crate::proto::v6::ResourceIdentitySchema;

/// The format version of [`CachedSchemas`]; files of other versions are ignored.
const FORMAT: u32 = 2;

/// The cache entry for the schemas of one provider package.
///
/// Schemas decide which values are sensitive, so a cached file is used only if it was written by this user for exactly
/// the installed program:
///
/// * The file must be owned by the user, and nobody else may have write permission.
/// * The file contains the verified hash of the package and the [`identity`] of the installed program. A file from a
///   repository or an archive cannot know the inode and change time that the program will have.
///
/// Rejecting a file costs one provider call; then the file is rewritten.
#[derive(Clone, Debug)]
pub struct SchemaCache {
    folder: PathBuf,
    hash: String,
    /// `None` on systems without stable file identities, which disables the cache.
    program: Option<String>,
}

/// The content of a cache file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CachedSchemas {
    #[prost(uint32, tag = "1")]
    protocol: u32,
    #[prost(message, required, tag = "2")]
    pub(super) schemas: RawSchemas,
    #[prost(btree_map = "string, message", tag = "3")]
    pub(super) identities: BTreeMap<String, ResourceIdentitySchema>,
    /// The verified hash of the package.
    #[prost(string, tag = "4")]
    hash: String,
    /// The [`identity`] of the installed program.
    #[prost(string, tag = "5")]
    program: String,
}

impl SchemaCache {
    /// Creates a handle to the cache entry in `folder`, which is created on demand, for a package with the verified
    /// `hash`.
    pub fn new(folder: impl Into<PathBuf>, hash: &str, program: &Path) -> Self {
        Self { folder: folder.into(), hash: hash.to_owned(), program: identity(program) }
    }

    /// Deletes all cached schemas in `folder`.
    ///
    /// # Errors
    /// A file or directory cannot be deleted.
    pub fn clear(folder: &Path) -> io::Result<()> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the encoded fields that bind a cache file to its package and program. Fuzzing appends them to arbitrary
    /// content, to reach the decoding behind the checks.
    pub fn binding(&self) -> Vec<u8> {
        let program = self.program.clone().unwrap_or_default();
        CachedSchemas { hash: self.hash.clone(), program, ..CachedSchemas::default() }.encode_to_vec()
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.{FORMAT}", self.name()))
    }

    /// Turns the hash into a file name; base64 characters such as `/` are not safe in paths.
    fn name(&self) -> String {
        self.hash.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
    }

    /// Returns the cached schemas, or `None` if the file is missing, damaged or untrusted; the caller then asks the
    /// provider.
    pub(super) fn read(&self) -> Option<CachedSchemas> {
        // Without an identity of the program nothing would bind a file to it.
        let program = self.program.as_deref()?;
        let mut file = File::open(self.path()).ok()?;
        // Checked on the open file, because the path could be replaced between a check and the opening.
        if !is_private(&file) {
            return None;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        // The checksum detects torn writes, such as after a power failure; it is no protection against forgery.
        let (content, sum) = bytes.split_last_chunk()?;
        if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return None;
        }
        CachedSchemas::decode(content).ok().filter(|kept| kept.hash == self.hash && kept.program == program)
    }

    /// Writes the schemas of a provider. Failures are ignored, since the cache is an optimization.
    ///
    /// Other runs may access the file concurrently, so it is written under a temporary name and renamed.
    pub(super) fn write(&self, kept: &mut CachedSchemas) {
        let Some(program) = &self.program else { return };
        // Bound while writing, so that a caller cannot store schemas under the wrong package.
        kept.hash.clone_from(&self.hash);
        kept.program.clone_from(program);
        let mut bytes = kept.encode_to_vec();
        let sum = crc32fast::hash(&bytes);
        bytes.extend(sum.to_le_bytes());
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Process ID and number make the temporary name unique among runs and threads.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = self.folder.join(format!("{}.{}-{number}.new", self.name(), std::process::id()));
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| create_private(&own)?.write_all(&bytes))
            // The rename replaces the old file at once: readers see a complete file, old or new.
            .and_then(|()| fs::rename(&own, self.path()));
        if written.is_err() {
            // A failed write must not leave temporary files behind.
            let _ = fs::remove_file(own);
        }
    }
}

/// Returns the identity of a file, which a replacement at the same path does not share: the system assigns a new inode
/// or change time to every write, and programs cannot choose them.
#[cfg(unix)]
fn identity(program: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::metadata(program).ok()?;
    let (device, inode, size) = (facts.dev(), facts.ino(), facts.size());
    Some(format!("{device} {inode} {size} {}.{:09}", facts.ctime(), facts.ctime_nsec()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<String> {
    None
}

/// Whether the file is owned by the current user and not writable for anyone else.
#[cfg(unix)]
fn is_private(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = nix::unistd::geteuid().as_raw();
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.uid() == user && facts.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_private(_: &File) -> bool {
    false
}

/// Creates a file that only the current user may write to, regardless of the umask.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // `create_new` refuses to follow a symbolic link that someone placed at the temporary path.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl CachedSchemas {
    pub fn new(protocol: Protocol, schemas: RawSchemas, identities: BTreeMap<String, ResourceIdentitySchema>) -> Self {
        Self { protocol: protocol.number(), schemas, identities, hash: String::new(), program: String::new() }
    }

    /// Returns the protocol version of the cached response, if this crate supports it.
    pub fn protocol(&self) -> Option<Protocol> {
        Protocol::from_number(self.protocol)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Creates a directory with a program and a cache entry for it.
    fn kept() -> (tempfile::TempDir, SchemaCache, CachedSchemas) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("program"), "one").unwrap();
        let cache = cache_in(&folder, "h1:a/b+c=");
        assert!(cache.read().is_none());
        let mut kept = CachedSchemas::new(Protocol::V6, RawSchemas::default(), BTreeMap::new());
        cache.write(&mut kept);
        assert_eq!(cache.read().as_ref(), Some(&kept));
        (folder, cache, kept)
    }

    fn cache_in(folder: &tempfile::TempDir, hash: &str) -> SchemaCache {
        SchemaCache::new(folder.path().join("schemas"), hash, &folder.path().join("program"))
    }

    #[test]
    fn cached_schemas_are_read_back_unless_they_are_damaged() {
        let (folder, cache, _) = kept();
        assert_eq!(fs::read_dir(folder.path().join("schemas")).unwrap().count(), 1);
        let mut bytes = fs::read(cache.path()).unwrap();
        // A single changed bit is found by the checksum.
        bytes[0] ^= 1;
        fs::write(cache.path(), &bytes).unwrap();
        assert!(cache.read().is_none());
        fs::write(cache.path(), b"x").unwrap();
        assert!(cache.read().is_none());
        SchemaCache::clear(&folder.path().join("schemas")).unwrap();
        assert!(!cache.path().exists());
        SchemaCache::clear(&folder.path().join("schemas")).unwrap();
    }

    #[test]
    fn cached_schemas_writable_by_others_are_rejected() {
        let (_folder, cache, mut kept) = kept();
        for (mode, is_used) in [(0o666, false), (0o620, false), (0o644, true)] {
            fs::set_permissions(cache.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(cache.read().is_some(), is_used, "{mode:o}");
        }
        // The provider is asked instead, and its response is written with the right mode.
        fs::set_permissions(cache.path(), fs::Permissions::from_mode(0o666)).unwrap();
        cache.write(&mut kept);
        assert!(cache.read().is_some());
    }

    #[test]
    fn cached_schemas_are_bound_to_package_hash_and_executable() {
        let (folder, cache, _) = kept();
        let other = cache_in(&folder, "h1:other");
        fs::copy(cache.path(), other.path()).unwrap();
        assert!(other.read().is_none(), "a file of another package under the name of this one");
        let program = folder.path().join("program");
        fs::copy(&program, folder.path().join("copy")).unwrap();
        fs::rename(folder.path().join("copy"), program).unwrap();
        assert!(cache_in(&folder, "h1:a/b+c=").read().is_none(), "the same content on another inode");
    }
}
