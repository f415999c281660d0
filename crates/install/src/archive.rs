//! Unpacking archives that nobody has to trust: nothing is written outside of the folder they are unpacked into.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

/// How an archive is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archive {
    /// A zip file.
    Zip,
    /// A tar file, packed or not.
    Tar(Packing),
    /// One file, packed.
    Single(Packing),
}

/// How the bytes of an archive are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// They are not.
    None,
    /// As gzip does it, several pieces after another too.
    Gzip,
    /// As bzip2 does it, several pieces after another too.
    Bzip2,
    /// As xz does it.
    Xz,
    /// As zstd does it.
    Zstandard,
}

/// What becomes of links in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// They are made if they lead to somewhere inside.
    Inside,
    /// The archive is refused.
    Refused,
}

/// The longest endings first.
const ENDINGS: [(&str, Archive); 14] = [
    ("tar.bz2", Archive::Tar(Packing::Bzip2)),
    ("tar.gz", Archive::Tar(Packing::Gzip)),
    ("tar.xz", Archive::Tar(Packing::Xz)),
    ("tar.zst", Archive::Tar(Packing::Zstandard)),
    ("tbz2", Archive::Tar(Packing::Bzip2)),
    ("tgz", Archive::Tar(Packing::Gzip)),
    ("txz", Archive::Tar(Packing::Xz)),
    ("tzst", Archive::Tar(Packing::Zstandard)),
    ("tar", Archive::Tar(Packing::None)),
    ("zip", Archive::Zip),
    ("bz2", Archive::Single(Packing::Bzip2)),
    ("gz", Archive::Single(Packing::Gzip)),
    ("xz", Archive::Single(Packing::Xz)),
    ("zst", Archive::Single(Packing::Zstandard)),
];

/// The largest archive that is unpacked, so that a small download cannot fill the disk.
pub(crate) const LARGEST: u64 = 8 << 30;
const TOO_LARGE: &str = "makes the package larger than 8 GiB";
const LEADS_OUTSIDE: &str = "is a link that leads outside of the package's folder";

impl Archive {
    /// What `?archive=` means.
    pub fn named(name: &str) -> Option<Self> {
        ENDINGS.iter().find(|(ending, _)| *ending == name).map(|(_, archive)| *archive)
    }

    /// What the end of a path says.
    pub fn of_path(path: &str) -> Option<Self> {
        let fits = |ending: &str| path.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.'));
        ENDINGS.iter().find(|(ending, _)| fits(ending)).map(|(_, archive)| *archive)
    }

    /// Unpacks `file` into `target`; a single file gets `name`.
    ///
    /// # Errors
    /// It is no such archive, is damaged or too large, or has an entry that would be written outside of the folder or a link that is
    /// refused. Then parts may be in `target`.
    pub fn unpack(self, file: File, target: &Path, name: &str, links: Links) -> io::Result<()> {
        fs::create_dir_all(target)?;
        match self {
            Self::Zip => unpack_zip(file, target, links),
            Self::Tar(packing) => unpack_tar(packing.open(file)?, target, links),
            Self::Single(packing) => {
                let mut out = File::create(target.join(name))?;
                match io::copy(&mut packing.open(file)?, &mut out)? {
                    LARGEST => Err(refused(name, TOO_LARGE)),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl Packing {
    fn open(self, file: File) -> io::Result<Box<dyn Read>> {
        let file = BufReader::new(file);
        let plain: Box<dyn Read> = match self {
            Self::None => Box::new(file),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(file)),
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(file)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new(file, true)),
            Self::Zstandard => Box::new(zstd::Decoder::with_buffer(file)?),
        };
        Ok(Box::new(plain.take(LARGEST)))
    }
}

fn unpack_tar(content: Box<dyn Read>, target: &Path, links: Links) -> io::Result<()> {
    let mut archive = tar::Archive::new(content);
    archive.set_overwrite(true);
    let mut made = Vec::new();
    // Holes of sparse files are nowhere in the archive, and count all the same.
    let mut left = LARGEST;
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        left = left.checked_sub(entry.size()).ok_or_else(|| refused(&path.to_string_lossy(), TOO_LARGE))?;
        if let Some(leads) = entry.link_name()? {
            let from = if entry.header().entry_type().is_hard_link() { Path::new("") } else { parent(&path) };
            check_link(&path.to_string_lossy(), from, &leads, links)?;
        }
        if !entry.unpack_in(target)? {
            return Err(outside(&path.to_string_lossy()));
        }
        if entry.header().entry_type().is_symlink() {
            made.push(path);
        }
    }
    check_links(target, &made)
}

fn unpack_zip(file: File, target: &Path, links: Links) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(io::Error::other)?;
    // Links come last: no file is written through one.
    let mut links_to_make = Vec::new();
    let mut left = LARGEST;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(io::Error::other)?;
        let name = entry.name().map_err(io::Error::other)?.into_owned();
        let path = safe(&name)?;
        let place = target.join(path);
        if entry.is_symlink() {
            let mut leads = String::new();
            entry.by_ref().take(4096).read_to_string(&mut leads)?;
            check_link(&name, parent(path), Path::new(&leads), links)?;
            fs::create_dir_all(parent(&place))?;
            links_to_make.push((leads, name, place));
            continue;
        }
        let written = write_entry(&mut entry, &place, left).map_err(|error| {
            let problem = format!("its entry {name:?} cannot be unpacked to {}: {error}", place.display());
            io::Error::new(error.kind(), problem)
        })?;
        left = left.checked_sub(written).ok_or_else(|| refused(&name, TOO_LARGE))?;
    }
    let made: Vec<PathBuf> = links_to_make.iter().map(|(_, name, _)| PathBuf::from(name)).collect();
    links_to_make.iter().try_for_each(|(leads, _, place)| link(Path::new(leads), place))?;
    check_links(target, &made)
}

/// Writes a file or makes a folder, and says how much that took: more than is `left` where it is too much.
fn write_entry(entry: &mut zip::read::ZipFile<'_, impl Read>, place: &Path, left: u64) -> io::Result<u64> {
    if entry.is_dir() {
        return fs::create_dir_all(place).map(|()| 0);
    }
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut out = File::create(place)?;
    let written = io::copy(&mut entry.by_ref().take(left.saturating_add(1)), &mut out)?;
    allow(&out, entry.unix_mode())?;
    Ok(written)
}

/// The entry's name as a path that stays below the folder.
fn safe(name: &str) -> io::Result<&Path> {
    let path = Path::new(name);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !stays || name.is_empty() || name.contains(['\\', '\0']) { Err(outside(name)) } else { Ok(path) }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Refuses the link `name` in the folder `from` if it leads out of the archive, or if there are to be none.
fn check_link(name: &str, from: &Path, leads: &Path, links: Links) -> io::Result<()> {
    if links == Links::Refused {
        return Err(refused(name, "is a link, which packages of providers must not have"));
    }
    let mut depth = 0_usize;
    for step in from.components().chain(leads.components()) {
        match step {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return Err(refused(name, LEADS_OUTSIDE)),
        }
    }
    Ok(())
}

/// Refuses links that lead outside by way of other links, now that all of them are made; such a one is removed.
fn check_links(target: &Path, made: &[PathBuf]) -> io::Result<()> {
    let root = fs::canonicalize(target)?;
    for name in made {
        let place = target.join(name);
        if !stays_below(&root, &place) {
            fs::remove_file(&place)?;
            return Err(refused(&name.to_string_lossy(), LEADS_OUTSIDE));
        }
    }
    Ok(())
}

/// Whether following `link` step by step, links on its way too, never leaves `root`, which is a path without links.
fn stays_below(root: &Path, link: &Path) -> bool {
    // More than any system follows.
    const MOST_LINKS: usize = 64;
    let (Some(folder), Some(name)) = (link.parent(), link.file_name()) else { return false };
    let Ok(mut at) = fs::canonicalize(folder) else { return false };
    let mut steps: Vec<OsString> = vec![name.to_owned()];
    let mut followed = 0;
    while let Some(step) = steps.pop() {
        if !at.starts_with(root) {
            return false;
        }
        if step == ".." {
            at.pop();
            continue;
        }
        at.push(step);
        if let Ok(leads) = fs::read_link(&at) {
            followed += 1;
            if followed > MOST_LINKS || leads.is_absolute() {
                return false;
            }
            at.pop();
            let further = leads.components().rev().filter(|part| *part != Component::CurDir);
            steps.extend(further.map(|part| part.as_os_str().to_owned()));
        }
    }
    at.starts_with(root)
}

fn outside(name: &str) -> io::Error {
    refused(name, "would be written outside of the package's folder")
}

fn refused(name: &str, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive is refused: its entry {name:?} {why}"))
}

#[cfg(unix)]
fn link(leads: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(leads, place)
}

#[cfg(not(unix))]
fn link(_: &Path, place: &Path) -> io::Result<()> {
    Err(refused(&place.to_string_lossy(), "is a link, which this system cannot make"))
}

#[cfg(unix)]
fn allow(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // Neither set-user-id nor anything else beyond reading, writing and running.
    mode.map_or(Ok(()), |mode| file.set_permissions(fs::Permissions::from_mode((mode & 0o777) | 0o600)))
}

#[cfg(not(unix))]
fn allow(_: &File, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn tarred(entries: &[(&str, &str)]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        let mut builder = tar::Builder::new(&mut file);
        for (name, content) in entries {
            let mut header = tar::Header::new_gnu();
            // The builder refuses such names; an attacker does not use it.
            let bytes = &mut header.as_old_mut().name;
            bytes[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(content.len() as u64);
            header.set_mode(0o4644);
            header.set_cksum();
            builder.append(&header, content.as_bytes()).unwrap();
        }
        builder.finish().unwrap();
        drop(builder);
        io::Seek::rewind(&mut file).unwrap();
        file
    }

    /// A zip file, unpacked into `in/side` of a scratch folder.
    fn unzipped(links: Links, make: impl FnOnce(&mut ZipWriter<File>)) -> (tempfile::TempDir, io::Result<()>) {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.zip");
        let mut writer = ZipWriter::new(File::create(&archive).unwrap());
        make(&mut writer);
        writer.finish().unwrap();
        let result = Archive::Zip.unpack(File::open(archive).unwrap(), &folder.path().join("in/side"), "", links);
        (folder, result)
    }

    #[test]
    fn entries_of_a_tar_file_stay_in_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("in");
        let tar = Archive::Tar(Packing::None);
        tar.unpack(tarred(&[("a/main.tf", "x")]), &target, "", Links::Inside).unwrap();
        assert_eq!(fs::read_to_string(target.join("a/main.tf")).unwrap(), "x");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(target.join("a/main.tf")).unwrap().permissions().mode() & 0o7777, 0o644);
        }
        assert!(tar.unpack(tarred(&[("../evil", "x")]), &target, "", Links::Inside).is_err());
        assert!(!folder.path().join("evil").exists());
    }

    #[test]
    fn entries_of_a_zip_file_stay_in_their_folder() {
        for name in ["../outside", "/tmp/outside", "a/../../outside", "..\\outside"] {
            let (folder, result) = unzipped(Links::Inside, |writer| {
                writer.start_file(name, SimpleFileOptions::default()).unwrap();
                writer.write_all(b"x").unwrap();
            });
            let problem = result.unwrap_err().to_string();
            assert!(problem.contains("would be written outside"), "{name}: {problem}");
            assert!(!folder.path().join("in/outside").exists());
        }
    }

    #[test]
    fn an_entry_that_is_a_file_and_a_folder_is_named() {
        let (_, result) = unzipped(Links::Inside, |writer| {
            for name in ["a", "a/b"] {
                writer.start_file(name, SimpleFileOptions::default()).unwrap();
            }
        });
        assert!(result.unwrap_err().to_string().starts_with("its entry \"a/b\" cannot be unpacked to "));
    }

    #[test]
    fn links_lead_inside_or_are_refused() {
        let linked = |links, leads: &str| {
            unzipped(links, |writer| writer.add_symlink("a/link", leads, SimpleFileOptions::default()).unwrap())
        };
        let (folder, result) = linked(Links::Inside, "../b");
        result.unwrap();
        assert_eq!(fs::read_link(folder.path().join("in/side/a/link")).unwrap(), Path::new("../b"));
        for leads in ["../../b", "/etc/passwd"] {
            assert!(linked(Links::Inside, leads).1.unwrap_err().to_string().contains("leads outside"), "{leads}");
        }
        assert!(linked(Links::Refused, "../b").1.unwrap_err().to_string().contains("is a link"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_outside_by_way_of_another_link_and_is_refused() {
        // a/b/up leads to the top, so a/b/up/.. is outside, though its text is not.
        let ways = [
            [("a/b/up", "../.."), ("out", "a/b/up/../secret")],
            [("a/b/up", "../../c/d"), ("a/x", "b/up/../../../secret")],
            [("a/loop", "pool"), ("a/pool", "loop")],
        ];
        for way in ways {
            let (zipped, result) = unzipped(Links::Inside, |writer| {
                writer.add_directory("c/d", SimpleFileOptions::default()).unwrap();
                for (name, leads) in way {
                    writer.add_symlink(name, leads, SimpleFileOptions::default()).unwrap();
                }
            });
            assert!(result.unwrap_err().to_string().contains("leads outside"), "{way:?}");
            let left = way.iter().filter(|(name, _)| zipped.path().join("in/side").join(name).is_symlink());
            assert_eq!(left.count(), 1, "{way:?}");
            let folder = tempfile::tempdir().unwrap();
            let mut file = tempfile::tempfile().unwrap();
            let mut builder = tar::Builder::new(&mut file);
            for (name, leads) in way {
                let mut header = tar::Header::new_gnu();
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                builder.append_link(&mut header, name, leads).unwrap();
            }
            builder.into_inner().unwrap();
            io::Seek::rewind(&mut file).unwrap();
            let result = Archive::Tar(Packing::None).unpack(file, &folder.path().join("in"), "", Links::Inside);
            assert!(result.unwrap_err().to_string().contains("leads outside"), "{way:?}");
        }
        // Links through links that stay are fine.
        let (folder, result) = unzipped(Links::Inside, |writer| {
            writer.start_file("a/b/main.tf", SimpleFileOptions::default()).unwrap();
            writer.add_symlink("one", "a", SimpleFileOptions::default()).unwrap();
            writer.add_symlink("two", "one/b/../b", SimpleFileOptions::default()).unwrap();
        });
        result.unwrap();
        assert!(folder.path().join("in/side/two/main.tf").exists());
    }

    #[test]
    fn holes_of_sparse_files_count() {
        let sparse = |size: u64| {
            let mut file = tempfile::tempfile().unwrap();
            let mut header = tar::Header::new_gnu();
            header.as_old_mut().name[..1].copy_from_slice(b"a");
            header.set_entry_type(tar::EntryType::GNUSparse);
            header.set_mode(0o644);
            header.set_size(0);
            let gnu = header.as_gnu_mut().unwrap();
            let digits = |number: u64| format!("{number:012o}");
            gnu.realsize.copy_from_slice(digits(size).as_bytes());
            gnu.sparse[0].offset.copy_from_slice(digits(size).as_bytes());
            gnu.sparse[0].numbytes.copy_from_slice(digits(0).as_bytes());
            header.set_cksum();
            file.write_all(header.as_bytes()).unwrap();
            file.write_all(&[0; 1024]).unwrap();
            io::Seek::rewind(&mut file).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let result = Archive::Tar(Packing::None).unpack(file, &folder.path().join("in"), "", Links::Inside);
            result.map(|()| fs::metadata(folder.path().join("in/a")).unwrap().len())
        };
        assert_eq!(sparse(4096).unwrap(), 4096);
        assert!(sparse(8 << 30 | 1).is_err_and(|problem| problem.to_string().contains("larger than 8 GiB")));
    }

    #[test]
    fn kinds_are_told_by_the_end_of_the_path() {
        assert_eq!(Archive::of_path("/x/m.tar.gz"), Some(Archive::Tar(Packing::Gzip)));
        assert_eq!(Archive::of_path("/x/m.zip"), Some(Archive::Zip));
        assert_eq!(Archive::of_path("/x/zip"), None);
        assert_eq!(Archive::named("tgz"), Some(Archive::Tar(Packing::Gzip)));
    }
}
