//! Unpacking archives: nothing is written outside of the folder they are unpacked into.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path};

use super::copy::link;
use super::error::FetchError;

/// How an archive is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Archive {
    Zip,
    Tar(Packing),
    /// One file, packed.
    Single(Packing),
}

/// How the bytes of an archive are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Gzip,
    Bzip2,
    Xz,
    Zstandard,
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
const LARGEST: u64 = 8 << 30;

impl Archive {
    /// What `?archive=` means.
    pub(super) fn named(name: &str) -> Option<Self> {
        ENDINGS.iter().find(|(ending, _)| *ending == name).map(|(_, archive)| *archive)
    }

    /// What the end of a path says.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let fits = |ending: &str| path.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.'));
        ENDINGS.iter().find(|(ending, _)| fits(ending)).map(|(_, archive)| *archive)
    }

    /// Unpacks `file` into `target`; a single file gets `name`.
    pub(super) fn unpack(self, file: File, target: &Path, name: &str) -> Result<(), FetchError> {
        let problem =
            |source: io::Error| FetchError::File { what: "the archive cannot be unpacked".to_owned(), source };
        fs::create_dir_all(target).map_err(problem)?;
        match self {
            Self::Zip => unpack_zip(file, target),
            Self::Tar(packing) => unpack_tar(packing.open(file)?, target).map_err(problem),
            Self::Single(packing) => {
                let path = target.join(name);
                let mut out = File::create(path).map_err(problem)?;
                io::copy(&mut packing.open(file)?, &mut out).map(|_| ()).map_err(problem)
            }
        }
    }
}

impl Packing {
    fn open(self, file: File) -> Result<Box<dyn Read>, FetchError> {
        let file = BufReader::new(file);
        let plain: Box<dyn Read> = match self {
            Self::None => Box::new(file),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(file)),
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(file)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new(file, true)),
            Self::Zstandard => {
                Box::new(zstd::Decoder::with_buffer(file).map_err(FetchError::file("the archive cannot be unpacked"))?)
            }
        };
        Ok(Box::new(plain.take(LARGEST)))
    }
}

fn unpack_tar(content: Box<dyn Read>, target: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(content);
    archive.set_preserve_permissions(true);
    archive.set_overwrite(true);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        if let Some(leads) = entry.link_name()? {
            let from = if entry.header().entry_type().is_hard_link() { Path::new("") } else { parent(&path) };
            stays_inside(from, &leads)?;
        }
        if !entry.unpack_in(target)? {
            return Err(outside(&path));
        }
    }
    Ok(())
}

fn unpack_zip(file: File, target: &Path) -> Result<(), FetchError> {
    let wrong = |error: zip::result::ZipError| FetchError::Other(format!("the archive cannot be unpacked: {error}"));
    let problem = |source: io::Error| FetchError::File { what: "the archive cannot be unpacked".to_owned(), source };
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(wrong)?;
    // Links come last: no file is written through one.
    let mut links = Vec::new();
    let mut left = LARGEST;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(wrong)?;
        let Some(path) = entry.enclosed_name() else {
            return Err(problem(outside(Path::new(entry.name().as_deref().unwrap_or_default()))));
        };
        let place = target.join(&path);
        if entry.is_dir() {
            fs::create_dir_all(&place).map_err(problem)?;
            continue;
        }
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(problem)?;
        }
        if entry.is_symlink() {
            let mut leads = String::new();
            entry.by_ref().take(4096).read_to_string(&mut leads).map_err(problem)?;
            stays_inside(parent(&path), Path::new(&leads)).map_err(problem)?;
            links.push((leads, place));
            continue;
        }
        let mode = entry.unix_mode();
        let mut out = File::create(&place).map_err(problem)?;
        left = left.saturating_sub(io::copy(&mut entry.by_ref().take(left), &mut out).map_err(problem)?);
        if left == 0 {
            return Err(FetchError::Other(format!("the archive holds more than {LARGEST} bytes")));
        }
        set_mode(&place, mode).map_err(problem)?;
    }
    for (leads, place) in links {
        link(Path::new(&leads), &place).map_err(problem)?;
    }
    Ok(())
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Refuses a link in the folder `from` that leads out of the archive.
fn stays_inside(from: &Path, leads: &Path) -> io::Result<()> {
    let mut depth = 0_usize;
    for step in from.components().chain(leads.components()) {
        match step {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return Err(outside(leads)),
        }
    }
    Ok(())
}

fn outside(path: &Path) -> io::Error {
    io::Error::other(format!("it wants to write outside of its folder: {}", path.display()))
}

#[cfg(unix)]
fn set_mode(place: &Path, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match mode {
        Some(mode) => fs::set_permissions(place, fs::Permissions::from_mode((mode & 0o777) | 0o600)),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(entries: &[(&str, &str)]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        let mut builder = tar::Builder::new(&mut file);
        for (name, content) in entries {
            let mut header = tar::Header::new_gnu();
            // The builder refuses such names; an attacker does not use it.
            let bytes = &mut header.as_old_mut().name;
            bytes[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append(&header, content.as_bytes()).unwrap();
        }
        builder.finish().unwrap();
        drop(builder);
        io::Seek::rewind(&mut file).unwrap();
        file
    }

    #[test]
    fn an_archive_may_not_write_outside_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("in");
        Archive::Tar(Packing::None).unpack(packed(&[("a/main.tf", "x")]), &target, "").unwrap();
        assert_eq!(fs::read_to_string(target.join("a/main.tf")).unwrap(), "x");
        let problem = Archive::Tar(Packing::None).unpack(packed(&[("../evil", "x")]), &target, "");
        assert!(problem.is_err());
        assert!(!folder.path().join("evil").exists());
        assert!(stays_inside(Path::new("a"), Path::new("../b")).is_ok());
        assert!(stays_inside(Path::new("a"), Path::new("../../b")).is_err());
        assert!(stays_inside(Path::new("a"), Path::new("/etc/passwd")).is_err());
    }

    #[test]
    fn kinds_are_told_by_the_end_of_the_path() {
        assert_eq!(Archive::of_path("/x/m.tar.gz"), Some(Archive::Tar(Packing::Gzip)));
        assert_eq!(Archive::of_path("/x/m.zip"), Some(Archive::Zip));
        assert_eq!(Archive::of_path("/x/zip"), None);
        assert_eq!(Archive::named("tgz"), Some(Archive::Tar(Packing::Gzip)));
    }
}
