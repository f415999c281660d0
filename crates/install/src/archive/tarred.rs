//! Tar files.

use std::io::{self, Read};
use std::path::Path;

use super::links::{Links, check_link, check_links, parent};
use super::refusal::{LARGEST, TOO_LARGE, outside, refused};

pub(super) fn unpack_tar(content: Box<dyn Read>, target: &Path, links: Links) -> io::Result<()> {
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
