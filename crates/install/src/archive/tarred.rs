//! Extraction of tar archives.

use std::io::{self, Read};
use std::path::Path;

use super::limits::{Allowance, Limits};
use super::links::{Links, check_link, check_links, parent};
use super::refusal::outside;

/// The room that the headers of one entry are given, and that the end of the archive is given.
const LARGEST_HEADER: u64 = 4 << 10;
const SPARE: u64 = 1 << 20;

pub(super) fn unpack_tar(content: Box<dyn Read>, target: &Path, links: Links, limits: Limits) -> io::Result<()> {
    // Headers belong to no entry, and an extended one may have any length: all of them together have a limit too.
    let headers = limits.entries.saturating_mul(LARGEST_HEADER).saturating_add(SPARE);
    let mut archive = tar::Archive::new(content.take(limits.bytes.saturating_add(headers)));
    archive.set_overwrite(true);
    let mut made = Vec::new();
    let mut allowance = Allowance::new(limits);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        allowance.take_entry()?;
        // Holes of sparse files are nowhere in the archive, and count all the same.
        allowance.take_bytes(entry.size(), &path.to_string_lossy())?;
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
