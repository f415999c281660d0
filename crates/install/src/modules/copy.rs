//! Copies of folders that were fetched already.

use std::fs;
use std::io;
use std::path::Path;

/// Copies the directory `from` to `to`; symbolic links are copied as links.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            link(&fs::read_link(entry.path())?, &target)?;
        } else if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Makes `place` a symbolic link to `target`.
#[cfg(unix)]
pub(super) fn link(target: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

/// Links need rights there that people rarely have: a copy does as well.
#[cfg(not(unix))]
pub(super) fn link(target: &Path, place: &Path) -> io::Result<()> {
    if target.is_dir() { copy_folder(target, place) } else { fs::copy(target, place).map(|_| ()) }
}

/// Removes a directory with its content, or a link without its target.
pub(super) fn remove(place: &Path) -> io::Result<()> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(place),
        Ok(_) => fs::remove_file(place),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
