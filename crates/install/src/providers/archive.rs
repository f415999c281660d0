//! Unpacking of archives that nobody has to trust.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path};

use zip::ZipArchive;

/// A package of more bytes is taken for an attack (a small archive that unpacks to fill the disk).
const LARGEST_PACKAGE: u64 = 8 << 30;

/// Unpacks the archive at `archive` into the empty folder `target`.
///
/// # Errors
/// It is no archive, is damaged, or an entry would be written outside of the folder or is a link. Then parts may be in `target`.
pub(super) fn unpack(archive: &Path, target: &Path) -> io::Result<()> {
    let mut archive = ZipArchive::new(File::open(archive)?).map_err(io::Error::other)?;
    let mut left = LARGEST_PACKAGE;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(io::Error::other)?;
        let name = entry.name().map_err(io::Error::other)?.into_owned();
        let path = target.join(safe(&name)?);
        if entry.is_symlink() {
            return Err(refused(&name, "is a symbolic link, which packages must not have"));
        }
        if entry.is_dir() {
            fs::create_dir_all(&path)?;
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        let written = io::copy(&mut entry.by_ref().take(left.saturating_add(1)), &mut file)?;
        left = left.checked_sub(written).ok_or_else(|| refused(&name, "makes the package larger than 8 GiB"))?;
        allow(&file, entry.unix_mode())?;
    }
    Ok(())
}

/// The entry's name as a path that stays below the folder.
fn safe(name: &str) -> io::Result<&Path> {
    let path = Path::new(name);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !stays || name.is_empty() || name.contains(['\\', '\0']) {
        return Err(refused(name, "would be written outside of the package's folder"));
    }
    Ok(path)
}

fn refused(name: &str, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive is refused: its entry {name:?} {why}"))
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

    fn unpacked(make: impl FnOnce(&mut ZipWriter<File>)) -> (tempfile::TempDir, io::Result<()>) {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.zip");
        let mut writer = ZipWriter::new(File::create(&archive).unwrap());
        make(&mut writer);
        writer.finish().unwrap();
        let target = folder.path().join("in/side");
        fs::create_dir_all(&target).unwrap();
        let result = unpack(&archive, &target);
        (folder, result)
    }

    #[test]
    fn entries_stay_in_their_folder() {
        for name in ["../outside", "/tmp/outside", "a/../../outside", "..\\outside"] {
            let (folder, result) = unpacked(|writer| {
                writer.start_file(name, SimpleFileOptions::default()).unwrap();
                writer.write_all(b"x").unwrap();
            });
            let problem = result.unwrap_err().to_string();
            assert!(problem.contains("would be written outside"), "{name}: {problem}");
            assert!(!folder.path().join("in/outside").exists());
        }
    }

    #[test]
    fn links_are_refused() {
        let (_folder, result) =
            unpacked(|writer| writer.add_symlink("link", "/etc/passwd", SimpleFileOptions::default()).unwrap());
        assert!(result.unwrap_err().to_string().contains("is a symbolic link"));
    }

    #[test]
    fn an_archive_and_the_folder_it_unpacks_to_have_one_hash() {
        let (folder, result) = unpacked(|writer| {
            for name in ["b", "a/c", "a-b"] {
                writer.start_file(name, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
                writer.write_all(name.as_bytes()).unwrap();
            }
        });
        result.unwrap();
        let mut archive = ZipArchive::new(File::open(folder.path().join("a.zip")).unwrap()).unwrap();
        assert_eq!(
            super::super::hash::content_hash(&mut archive).unwrap(),
            super::super::hash::folder_hash(&folder.path().join("in/side")).unwrap()
        );
    }
}
