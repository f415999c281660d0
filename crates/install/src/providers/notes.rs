//! A cache of package hashes, so that a command need not read packages again that the previous one has read.
//!
//! A package is tens or hundreds of megabytes, and each command must verify it against the lock file before it starts
//! it. A note records the hash of a package, and its [`Stamp`] at that time: for each file its inode, size, and the
//! times of modification and change. The system sets the time of change whenever content, name, owner or times change,
//! and no user can set it: it reveals a file that was written to or replaced, and a modification time that was set
//! back. Only the administrator of a machine can forge it, who can replace this program as well.
//!
//! Risks, and the precaution against each:
//!
//! * *A file changes twice within the resolution of the file system's clock.* A note is only written if all files were
//!   last changed at least two seconds before hashing began; no file system of [`Stamp::of`] has a coarser clock.
//! * *A file changes while it is hashed.* The stamp is taken before and after; only if both are equal a note is written.
//! * *Somebody else writes the note.* It counts only if the file is ours and nobody else may write to it. Notes that
//!   arrive with a configuration or an unpacked archive of the data directory would have to know future inodes and
//!   nanoseconds.
//! * *A note claims that a package is wrong.* It can only confirm an expected hash; otherwise the package is hashed.
//! * *The disk loses data.* A note expires after a day, and `init` always hashes every package.
//! * *Several commands run at once.* A note is written atomically, and each of them is valid.
//! * *The package changes between verification and start.* The same can happen without the cache.
//!
//! An unreadable or unwritable note only costs time.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::hash::{Stamp, folder_hash};
use crate::hex;

/// The minimum age of a package's last change before a note of it is written.
const MINIMUM_AGE: Duration = Duration::from_secs(2);

/// The lifetime of a note.
const MAXIMUM_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The maximum size of a note in bytes, larger than that of any package.
const LARGEST: u64 = 1 << 20;

/// The format version of notes.
const FORM: &str = "groma package 1";

/// The cache of package hashes: a directory of notes, one for each package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HashCache {
    folder: PathBuf,
}

impl HashCache {
    /// Uses the notes in `folder`, which is created when the first one is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the hash of a package: one of `wanted` if a valid note confirms it, else a newly computed one.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn hash(&self, package: &Path, wanted: &[Arc<str>]) -> io::Result<Arc<str>> {
        self.hash_at(SystemTime::now(), package, wanted)
    }

    fn hash_at(&self, now: SystemTime, package: &Path, wanted: &[Arc<str>]) -> io::Result<Arc<str>> {
        // A package of the shared cache is a link, and the note is about the directory that it leads to.
        let package = package.canonicalize()?;
        let before = Stamp::of(&package);
        if let Some(stamp) = &before
            && let Some(noted) = self.noted(now, &package, stamp)
            && let Some(hash) = wanted.iter().find(|hash| ***hash == *noted)
        {
            return Ok(Arc::clone(hash));
        }
        let hash = folder_hash(&package)?;
        if let Some(stamp) = before.filter(|stamp| is_old_enough(now, stamp))
            && Stamp::of(&package).is_some_and(|after| after == stamp)
        {
            // Without a note the next command hashes the package again.
            let _ = self.write(now, &package, &stamp, &hash);
        }
        Ok(hash)
    }

    /// Returns the hash in the note of a package, if the note is valid.
    fn noted(&self, now: SystemTime, package: &Path, stamp: &Stamp) -> Option<String> {
        let file = File::open(self.path(package)).ok()?;
        // Checked on the open file, so that it cannot be replaced in between.
        if !is_ours_alone(&file) {
            return None;
        }
        let mut text = String::new();
        // A larger note is cut and matches no stamp.
        file.take(LARGEST).read_to_string(&mut text).ok()?;
        let mut parts = text.splitn(4, '\n');
        let (form, at, hash, rest) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(at.parse().ok()?))?;
        // A note from the future is invalid as well: the clock was set back.
        let is_recent = now.duration_since(at).is_ok_and(|age| age < MAXIMUM_AGE);
        (form == FORM && is_recent && rest == stamp.text).then(|| hash.to_owned())
    }

    fn write(&self, now: SystemTime, package: &Path, stamp: &Stamp, hash: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let at = now.duration_since(SystemTime::UNIX_EPOCH).map_err(io::Error::other)?.as_secs();
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        write!(file, "{FORM}\n{at}\n{hash}\n{}", stamp.text)?;
        file.persist(self.path(package)).map(drop).map_err(|error| error.error)
    }

    fn path(&self, package: &Path) -> PathBuf {
        // The digest of the path, which may be longer than a file name and has separators.
        self.folder.join(hex(&Sha256::digest(package.as_os_str().as_encoded_bytes())))
    }
}

fn is_old_enough(now: SystemTime, stamp: &Stamp) -> bool {
    now.duration_since(stamp.youngest).is_ok_and(|age| age >= MINIMUM_AGE)
}

#[cfg(target_os = "linux")]
fn is_ours_alone(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = nix::unistd::geteuid().as_raw();
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.uid() == owner && facts.mode() & 0o022 == 0)
}

#[cfg(not(target_os = "linux"))]
fn is_ours_alone(_: &File) -> bool {
    false
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const PROGRAM: &str = "terraform-provider-tool";

    /// A package, notes, and a time at which the package has settled; nothing where the file system of the test does
    /// not serve.
    fn recorded_package() -> Option<(tempfile::TempDir, PathBuf, HashCache, SystemTime)> {
        let root = tempfile::tempdir().unwrap();
        let package = root.path().join("package");
        fs::create_dir_all(package.join("docs")).unwrap();
        for (name, mode) in [(PROGRAM, 0o755), ("docs/LICENSE", 0o644)] {
            fs::write(package.join(name), "one").unwrap();
            fs::set_permissions(package.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        if Stamp::of(&package).is_none() {
            println!("skipped: the file system of the test's folder is none whose times are believed");
            return None;
        }
        let notes = HashCache::new(root.path().join("notes"));
        Some((root, package, notes, SystemTime::now() + MINIMUM_AGE))
    }

    /// Replaces the hash in the note, so that a test can tell whether the note is used.
    fn forge(notes: &HashCache, hash: &str) {
        let path = fs::read_dir(&notes.folder).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let noted = text.lines().nth(2).unwrap();
        fs::write(&path, text.replace(noted, hash)).unwrap();
    }

    #[test]
    fn unchanged_package_is_not_hashed_again() {
        let Some((_root, package, notes, now)) = recorded_package() else { return };
        let hash = notes.hash_at(now, &package, &[]).unwrap();
        assert_eq!(hash, folder_hash(&package).unwrap());
        forge(&notes, "h1:noted");
        let wanted = ["h1:noted".into()];
        assert_eq!(&*notes.hash_at(now, &package, &wanted).unwrap(), "h1:noted");
        // A note only confirms. A request for another hash, or for any, returns the computed one.
        assert_eq!(notes.hash_at(now, &package, &["h1:other".into()]).unwrap(), hash);
        // That wrote the note with the true hash again.
        assert_eq!(notes.hash_at(now, &package, &wanted).unwrap(), hash);
    }

    #[test]
    fn every_change_of_a_package_invalidates_its_note() {
        type Change = fn(&Path);
        let changes: [(&str, Change); 7] = [
            ("written to, of the same size and with its old time", |package| {
                let program = package.join(PROGRAM);
                let before = fs::metadata(&program).unwrap().modified().unwrap();
                fs::write(&program, "two").unwrap();
                File::options().append(true).open(&program).unwrap().set_modified(before).unwrap();
                assert_eq!(fs::metadata(&program).unwrap().modified().unwrap(), before);
            }),
            ("replaced by another file with its old time", |package| {
                let (program, fresh) = (package.join(PROGRAM), package.join("fresh"));
                let before = fs::metadata(&program).unwrap().modified().unwrap();
                fs::write(&fresh, "two").unwrap();
                fs::set_permissions(&fresh, fs::Permissions::from_mode(0o755)).unwrap();
                File::options().append(true).open(&fresh).unwrap().set_modified(before).unwrap();
                fs::rename(fresh, program).unwrap();
            }),
            ("a link to something else", |package| {
                let program = package.join(PROGRAM);
                let other_directory = package.with_file_name("elsewhere");
                fs::rename(&program, &other_directory).unwrap();
                std::os::unix::fs::symlink(other_directory, program).unwrap();
            }),
            ("a further file", |package| fs::write(package.join("docs/more"), "").unwrap()),
            ("one file less", |package| fs::remove_file(package.join("docs/LICENSE")).unwrap()),
            ("another name", |package| fs::rename(package.join("docs"), package.join("doc")).unwrap()),
            ("writable for all", |package| {
                fs::set_permissions(package.join(PROGRAM), fs::Permissions::from_mode(0o777)).unwrap();
            }),
        ];
        for (what, change) in changes {
            let Some((_root, package, notes, now)) = recorded_package() else { return };
            notes.hash_at(now, &package, &[]).unwrap();
            forge(&notes, "h1:noted");
            change(&package);
            let found = notes.hash_at(now, &package, &["h1:noted".into()]).unwrap();
            assert_eq!(found, folder_hash(&package).unwrap(), "{what}");
        }
    }

    #[test]
    fn recently_changed_package_is_not_noted() {
        let Some((_root, package, notes, now)) = recorded_package() else { return };
        notes.hash_at(SystemTime::now(), &package, &[]).unwrap();
        // A package that was changed in the future is not noted either: the clock was set back.
        notes.hash_at(now - Duration::from_secs(60), &package, &[]).unwrap();
        assert!(!notes.folder.exists());
    }

    #[test]
    fn foreign_old_and_damaged_notes_are_ignored() {
        let Some((_root, package, notes, now)) = recorded_package() else { return };
        let hash = notes.hash_at(now, &package, &[]).unwrap();
        let path = fs::read_dir(&notes.folder).unwrap().next().unwrap().unwrap().path();
        forge(&notes, "h1:noted");
        let is_used = |now| &*notes.hash_at(now, &package, &["h1:noted".into()]).unwrap() == "h1:noted";
        assert!(is_used(now));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(!is_used(now), "others may have written it");
        forge(&notes, "h1:noted");
        assert!(!is_used(now - Duration::from_secs(60)), "it is of the future");
        forge(&notes, "h1:noted");
        assert!(!is_used(now + MAXIMUM_AGE), "it is old");
        forge(&notes, "h1:noted");
        for damaged in ["", "\n\n\n", &fs::read_to_string(&path).unwrap().replace("dev", "deb")] {
            fs::write(&path, damaged).unwrap();
            assert!(!is_used(now), "{damaged}");
            assert_eq!(notes.hash_at(now, &package, &[]).unwrap(), hash);
        }
    }
}
