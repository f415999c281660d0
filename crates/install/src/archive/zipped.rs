//! Extraction of tar and zip archives.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use groma_diagnostics::io_reason;

use super::limits::{Allowance, Limits, outside, too_large, too_many};
use super::links::{Links, check_link, check_links, link, parent};

pub(super) fn unpack_zip(mut file: File, target: &Path, links: Links, limits: Limits) -> io::Result<()> {
    check_entries(&mut file, limits)?;
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(io::Error::other)?;
    // The declared sizes may be wrong, but suffice to refuse an archive before anything is written.
    if archive.decompressed_size().is_some_and(|size| size > u128::from(limits.bytes)) {
        return Err(too_large(limits, None));
    }
    // Links come last: no file is written through one.
    let mut links_to_make = Vec::new();
    let mut allowance = Allowance::new(limits);
    for index in 0..archive.len() {
        allowance.take_entry()?;
        let mut entry = archive.by_index(index).map_err(io::Error::other)?;
        let name = entry.name().map_err(io::Error::other)?.into_owned();
        let path = safe(&name)?;
        let destination = target.join(path);
        if entry.is_symlink() {
            let mut leads = String::new();
            // The target of a link is its content; no real path is longer.
            entry.by_ref().take(4096).read_to_string(&mut leads)?;
            check_link(&name, parent(path), Path::new(&leads), links)?;
            fs::create_dir_all(parent(&destination))?;
            links_to_make.push((leads, name, destination));
            continue;
        }
        let written = write_entry(&mut entry, &destination, allowance.bytes()).map_err(|error| {
            let problem = format!(
                "its entry {name:?} cannot be extracted to {}: {error}",
                destination.display(),
                error = io_reason(&error)
            );
            io::Error::new(error.kind(), problem)
        })?;
        allowance.take_bytes(written, &name)?;
    }
    let made: Vec<PathBuf> = links_to_make.iter().map(|(_, name, _)| PathBuf::from(name)).collect();
    links_to_make.iter().try_for_each(|(leads, _, destination)| link(Path::new(leads), destination))?;
    check_links(target, &made)
}

/// Writes a file or creates a directory, and returns the number of bytes: more than `left` if the entry is too large.
fn write_entry(entry: &mut zip::read::ZipFile<'_, impl Read>, destination: &Path, left: u64) -> io::Result<u64> {
    if entry.is_dir() {
        return fs::create_dir_all(destination).map(|()| 0);
    }
    if let Some(parent) = destination.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut out = File::create(destination)?;
    // The declared size may be wrong, so the content itself is limited.
    let written = io::copy(&mut entry.by_ref().take(left.saturating_add(1)), &mut out)?;
    allow(&out, entry.unix_mode())?;
    Ok(written)
}

/// The entry's name as a path that stays below the folder.
fn safe(name: &str) -> io::Result<&Path> {
    let path = Path::new(name);
    // Checked as a path and as text: a backslash is a separator on Windows only.
    let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !stays || name.is_empty() || name.contains(['\\', '\0']) { Err(outside(name)) } else { Ok(path) }
}

#[cfg(unix)]
fn allow(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // Only the bits for reading, writing and executing, and not, for example, set-user-ID.
    mode.map_or(Ok(()), |mode| file.set_permissions(fs::Permissions::from_mode((mode & 0o777) | 0o600)))
}

#[cfg(not(unix))]
fn allow(_: &File, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

/// The space for the headers of one entry, and for the end of the archive.
const LARGEST_HEADER: u64 = 4 << 10;
const SPARE: u64 = 1 << 20;

pub(super) fn unpack_tar(content: Box<dyn Read>, target: &Path, links: Links, limits: Limits) -> io::Result<()> {
    // Headers belong to no entry and may have any length, so their sum has a limit, too.
    let headers = limits.entries.saturating_mul(LARGEST_HEADER).saturating_add(SPARE);
    let mut archive = tar::Archive::new(content.take(limits.bytes.saturating_add(headers)));
    archive.set_overwrite(true);
    let mut made = Vec::new();
    let mut allowance = Allowance::new(limits);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        allowance.take_entry()?;
        // Holes of sparse files take no space in the archive, but their size counts.
        allowance.take_bytes(entry.size(), &path.to_string_lossy())?;
        if let Some(leads) = entry.link_name()? {
            // Hard links are relative to the root of the archive, symbolic ones to their own directory.
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

/// The end record without its comment, and the longest comment.
const END: usize = 22;
const LONGEST_COMMENT: u64 = 0xffff;

/// Refuses a zip file that declares more entries than the limit. The reader keeps all entries in memory, so this
/// precedes it.
///
/// A file without an end record passes: reading it reports that it is not a zip file.
///
/// # Errors
/// The file cannot be read, or has too many entries.
pub(crate) fn check_entries(file: &mut (impl Read + Seek), limits: Limits) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    let start = length.saturating_sub(END as u64 + LONGEST_COMMENT);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(END as u64 + LONGEST_COMMENT).read_to_end(&mut tail)?;
    // A comment may contain what looks like an end record, and readers do not agree on which one counts: all do.
    let mut entries = 0;
    for at in tail.windows(4).enumerate().filter(|(_, bytes)| bytes == b"PK\x05\x06").map(|(at, _)| at) {
        let count = tail.get(at..).and_then(|end| end.get(10..12)?.try_into().ok()).map(u16::from_le_bytes);
        entries = entries.max(match count {
            Some(u16::MAX) => large_count(file, start + at as u64)?.unwrap_or_default(),
            count => count.unwrap_or_default().into(),
        });
    }
    file.rewind()?;
    if entries > limits.entries { Err(too_many(limits)) } else { Ok(()) }
}

/// The number of entries of a file in the Zip64 format, whose end record is at `end`.
fn large_count(file: &mut (impl Read + Seek), end: u64) -> io::Result<Option<u64>> {
    // A locator of 20 bytes precedes the end record and has the offset of the zip64 one.
    let Some(at) = end.checked_sub(20) else { return Ok(None) };
    let Some(locator) = record::<16>(file, at, b"PK\x06\x07")? else { return Ok(None) };
    let Some(offset) = locator.last_chunk().map(|bytes| u64::from_le_bytes(*bytes)) else { return Ok(None) };
    let record = record::<40>(file, offset, b"PK\x06\x06")?;
    Ok(record.and_then(|record| record.last_chunk().map(|bytes| u64::from_le_bytes(*bytes))))
}

/// The first `N` bytes of the record at `at`, if it begins with `signature`.
fn record<const N: usize>(file: &mut (impl Read + Seek), at: u64, signature: &[u8; 4]) -> io::Result<Option<[u8; N]>> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(at))?;
    match file.read_exact(&mut bytes) {
        Ok(()) if bytes.starts_with(signature) => Ok(Some(bytes)),
        Ok(()) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
