//! Notes of what packages hashed to, so that a command need not read again what the one before it has read.
//!
//! A package is tens or hundreds of megabytes, and each command must know that it is what the lock file says before it starts it. A note names
//! the hash that a package had, and its [`Stamp`] at that time: for each file its inode, size, and the times of modification and change. The
//! latter is set by the system at each change of content, name, owner or times, and no user can set it: a file that is written to, one that
//! is put in the place of another, a time of modification that is set back, all show. Only the administrator of a machine can forge it, who can
//! exchange this program as well.
//!
//! What could go wrong, and what is done about it:
//!
//! * *A file changes twice within what the clock of the file system tells apart.* A note is only written of files that were last changed two
//!   seconds ago or longer, before hashing began; coarser clocks than that are on none of the file systems of [`Stamp::of`].
//! * *A file changes while it is hashed.* The stamp is taken before and after; only if both are equal a note is written.
//! * *Somebody else writes the note.* It counts only if the file is ours and nobody else may write to it. Notes that come along with a
//!   configuration or an unpacked archive of the data folder would have to know the inodes and the nanoseconds that the package is going to have.
//! * *A note says that a package is wrong.* It is never believed in that: it only ever confirms a hash that is wanted, and all else is hashed.
//! * *The disk loses what is on it.* Nothing is believed for longer than a day, and `init` hashes each package anew.
//! * *Several commands run at once.* A note appears as a whole or not at all, and each of those that they write is true by itself.
//! * *The package changes after it was found to be right, before it is started.* That is so with a hash, too.
//!
//! A note that cannot be read or written is none, which costs time and nothing else.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::hash::folder_hash;
use super::stamp::Stamp;
use crate::hex::hex;

/// Minimal time since the last change of a package for a note about it.
const SETTLED: Duration = Duration::from_secs(2);

/// Maximal age of a valid note.
const BELIEVED: Duration = Duration::from_secs(24 * 60 * 60);

/// More than the note of any package has.
const LARGEST: u64 = 1 << 20;

/// The first words of a note; another form has others.
const FORM: &str = "groma package 1";

/// A folder of notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notes {
    folder: PathBuf,
}

impl Notes {
    /// The notes in `folder`, which is made when there is something to note.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the hash of a package: one of those `wanted` if a note confirms it, otherwise it is computed and noted.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn hash(&self, package: &Path, wanted: &[Arc<str>]) -> io::Result<Arc<str>> {
        self.hash_at(SystemTime::now(), package, wanted)
    }

    fn hash_at(&self, now: SystemTime, package: &Path, wanted: &[Arc<str>]) -> io::Result<Arc<str>> {
        let package = package.canonicalize()?;
        let before = Stamp::of(&package);
        if let Some(stamp) = &before
            && let Some(noted) = self.noted(now, &package, stamp)
            && let Some(hash) = wanted.iter().find(|hash| ***hash == *noted)
        {
            return Ok(Arc::clone(hash));
        }
        let hash = folder_hash(&package)?;
        if let Some(stamp) = before.filter(|stamp| is_settled(now, stamp))
            && Stamp::of(&package).is_some_and(|after| after == stamp)
        {
            // Without it the next command hashes, too.
            let _ = self.write(now, &package, &stamp, &hash);
        }
        Ok(hash)
    }

    /// Returns the hash in a note.
    fn noted(&self, now: SystemTime, package: &Path, stamp: &Stamp) -> Option<String> {
        let file = File::open(self.path(package)).ok()?;
        if !is_ours_alone(&file) {
            return None;
        }
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text).ok()?;
        let mut parts = text.splitn(4, '\n');
        let (form, at, hash, rest) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(at.parse().ok()?))?;
        let is_recent = now.duration_since(at).is_ok_and(|age| age < BELIEVED);
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
        self.folder.join(hex(&Sha256::digest(package.as_os_str().as_encoded_bytes())))
    }
}

fn is_settled(now: SystemTime, stamp: &Stamp) -> bool {
    now.duration_since(stamp.youngest).is_ok_and(|age| age >= SETTLED)
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

    /// A package, notes, and a time at which the package has settled; nothing where the file system of the test does not serve.
    fn settled() -> Option<(tempfile::TempDir, PathBuf, Notes, SystemTime)> {
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
        let notes = Notes::new(root.path().join("notes"));
        Some((root, package, notes, SystemTime::now() + SETTLED))
    }

    /// Makes the note say something else, by which it shows whether it is believed.
    fn forge(notes: &Notes, hash: &str) {
        let path = fs::read_dir(&notes.folder).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let noted = text.lines().nth(2).unwrap();
        fs::write(&path, text.replace(noted, hash)).unwrap();
    }

    #[test]
    fn a_package_that_has_not_changed_is_not_hashed_again() {
        let Some((_root, package, notes, now)) = settled() else { return };
        let hash = notes.hash_at(now, &package, &[]).unwrap();
        assert_eq!(hash, folder_hash(&package).unwrap());
        forge(&notes, "h1:noted");
        let wanted = ["h1:noted".into()];
        assert_eq!(&*notes.hash_at(now, &package, &wanted).unwrap(), "h1:noted");
        // A note only confirms: a caller who wants another hash, or any, gets the computed one.
        assert_eq!(notes.hash_at(now, &package, &["h1:other".into()]).unwrap(), hash);
        // And then the true one is noted again.
        assert_eq!(notes.hash_at(now, &package, &wanted).unwrap(), hash);
    }

    #[test]
    fn whatever_is_done_to_a_package_is_found() {
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
                let elsewhere = package.with_file_name("elsewhere");
                fs::rename(&program, &elsewhere).unwrap();
                std::os::unix::fs::symlink(elsewhere, program).unwrap();
            }),
            ("a further file", |package| fs::write(package.join("docs/more"), "").unwrap()),
            ("one file less", |package| fs::remove_file(package.join("docs/LICENSE")).unwrap()),
            ("another name", |package| fs::rename(package.join("docs"), package.join("doc")).unwrap()),
            ("writable for all", |package| {
                fs::set_permissions(package.join(PROGRAM), fs::Permissions::from_mode(0o777)).unwrap();
            }),
        ];
        for (what, change) in changes {
            let Some((_root, package, notes, now)) = settled() else { return };
            notes.hash_at(now, &package, &[]).unwrap();
            forge(&notes, "h1:noted");
            change(&package);
            let found = notes.hash_at(now, &package, &["h1:noted".into()]).unwrap();
            assert_eq!(found, folder_hash(&package).unwrap(), "{what}");
        }
    }

    #[test]
    fn what_was_changed_just_now_is_not_noted() {
        let Some((_root, package, notes, now)) = settled() else { return };
        notes.hash_at(SystemTime::now(), &package, &[]).unwrap();
        // Nor what was changed in the future: the clock was set back.
        notes.hash_at(now - Duration::from_secs(60), &package, &[]).unwrap();
        assert!(!notes.folder.exists());
    }

    #[test]
    fn notes_of_others_old_ones_and_damaged_ones_are_not_believed() {
        let Some((_root, package, notes, now)) = settled() else { return };
        let hash = notes.hash_at(now, &package, &[]).unwrap();
        let path = fs::read_dir(&notes.folder).unwrap().next().unwrap().unwrap().path();
        forge(&notes, "h1:noted");
        let believed = |now| &*notes.hash_at(now, &package, &["h1:noted".into()]).unwrap() == "h1:noted";
        assert!(believed(now));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(!believed(now), "others may have written it");
        forge(&notes, "h1:noted");
        assert!(!believed(now - Duration::from_secs(60)), "it is of the future");
        forge(&notes, "h1:noted");
        assert!(!believed(now + BELIEVED), "it is old");
        forge(&notes, "h1:noted");
        for damaged in ["", "\n\n\n", &fs::read_to_string(&path).unwrap().replace("dev", "deb")] {
            fs::write(&path, damaged).unwrap();
            assert!(!believed(now), "{damaged}");
            assert_eq!(notes.hash_at(now, &package, &[]).unwrap(), hash);
        }
    }
}
