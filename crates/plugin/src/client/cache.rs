//! What providers declare, kept on disk: large providers take seconds to say it, and say the same every time.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use prost::Message;

use super::schemas::RawSchemas;
use crate::Protocol;
use crate::proto::v6::ResourceIdentitySchema;

/// Counts the changes of [`Kept`], of which older files are no use.
const FORMAT: u32 = 2;

/// The place for what the provider of one package declares.
///
/// A schema decides which values are secrets, so a cached one is only used if it comes from this user and belongs to the very program that
/// is installed:
///
/// * The file must belong to the user, and nobody else may write to it.
/// * The file names the verified hash of the package, and the [`identity`] of the program on this disk. A file that arrives with a
///   repository or an archive cannot know the inode and the time of change that the program is going to have.
///
/// A file that is refused costs one call of the provider; then it is written again.
#[derive(Clone, Debug)]
pub struct SchemaCache {
    folder: PathBuf,
    hash: String,
    /// None where the system does not identify files: then there is no cache.
    program: Option<String>,
}

/// What a provider said.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Kept {
    #[prost(uint32, tag = "1")]
    protocol: u32,
    #[prost(message, required, tag = "2")]
    pub(super) schemas: RawSchemas,
    #[prost(btree_map = "string, message", tag = "3")]
    pub(super) identities: BTreeMap<String, ResourceIdentitySchema>,
    /// The verified hash of the package.
    #[prost(string, tag = "4")]
    hash: String,
    /// The identity of the program.
    #[prost(string, tag = "5")]
    program: String,
}

impl SchemaCache {
    /// A place in `folder`, which is made when it is needed, for `program` of the package that was verified to have this `hash`.
    pub fn new(folder: impl Into<PathBuf>, hash: &str, program: &Path) -> Self {
        Self { folder: folder.into(), hash: hash.to_owned(), program: identity(program) }
    }

    /// Removes everything that is cached in `folder`.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn clear(folder: &Path) -> io::Result<()> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The encoded fields that bind a file of the cache to the package and its program. Behind other content they make a file that
    /// passes for one of the cache, which is how fuzzing reaches what is read after the checks.
    pub fn binding(&self) -> Vec<u8> {
        let program = self.program.clone().unwrap_or_default();
        Kept { hash: self.hash.clone(), program, ..Kept::default() }.encode_to_vec()
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.{FORMAT}", self.name()))
    }

    /// The hash as a part of a file name.
    fn name(&self) -> String {
        self.hash.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
    }

    /// Returns the cached schemas; none if they cannot be read or trusted. The provider is asked instead.
    pub(super) fn read(&self) -> Option<Kept> {
        let program = self.program.as_deref()?;
        let mut file = File::open(self.path()).ok()?;
        if !is_ours_alone(&file) {
            return None;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let (content, sum) = bytes.split_last_chunk()?;
        if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return None;
        }
        Kept::decode(content).ok().filter(|kept| kept.hash == self.hash && kept.program == program)
    }

    /// Keeps what a provider said. A cache that cannot be written is none, which is no reason to stop.
    ///
    /// Other runs may read and write the same at the same time: a file is there as a whole or not at all.
    pub(super) fn write(&self, kept: &mut Kept) {
        let Some(program) = &self.program else { return };
        kept.hash.clone_from(&self.hash);
        kept.program.clone_from(program);
        let mut bytes = kept.encode_to_vec();
        let sum = crc32fast::hash(&bytes);
        bytes.extend(sum.to_le_bytes());
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = self.folder.join(format!("{}.{}-{number}.new", self.name(), std::process::id()));
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| create_for_us_alone(&own)?.write_all(&bytes))
            .and_then(|()| fs::rename(&own, self.path()));
        if written.is_err() {
            let _ = fs::remove_file(own);
        }
    }
}

/// The identity of a file, which no other file at its path shares: the system gives it a new inode or another time of
/// change whenever it is written to or replaced.
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

/// Whether the file belongs to the user who runs this program, and nobody else may write to it.
#[cfg(unix)]
fn is_ours_alone(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = nix::unistd::geteuid().as_raw();
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.uid() == user && facts.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_ours_alone(_: &File) -> bool {
    false
}

/// Creates a file that only this user may write to, whatever the umask.
fn create_for_us_alone(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl Kept {
    pub fn new(protocol: Protocol, schemas: RawSchemas, identities: BTreeMap<String, ResourceIdentitySchema>) -> Self {
        Self { protocol: protocol.number(), schemas, identities, hash: String::new(), program: String::new() }
    }

    /// The version of the protocol that it was said in.
    pub fn protocol(&self) -> Option<Protocol> {
        Protocol::from_number(self.protocol)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A folder with a program, and the cache for it with something in it.
    fn kept() -> (tempfile::TempDir, SchemaCache, Kept) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("program"), "one").unwrap();
        let cache = cache_in(&folder, "h1:a/b+c=");
        assert!(cache.read().is_none());
        let mut kept = Kept::new(Protocol::V6, RawSchemas::default(), BTreeMap::new());
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
    fn cached_schemas_that_others_may_write_to_are_not_used() {
        let (_folder, cache, mut kept) = kept();
        for (mode, is_used) in [(0o666, false), (0o620, false), (0o644, true)] {
            fs::set_permissions(cache.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(cache.read().is_some(), is_used, "{mode:o}");
        }
        // The provider that is asked instead writes a file of the right mode.
        fs::set_permissions(cache.path(), fs::Permissions::from_mode(0o666)).unwrap();
        cache.write(&mut kept);
        assert!(cache.read().is_some());
    }

    #[test]
    fn cached_schemas_belong_to_one_package_and_to_its_program_on_this_disk() {
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
