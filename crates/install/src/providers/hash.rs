//! Package hashes of the lock file: `h1:` of the files of a package, `zh:` of its archive.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use crate::archive::{Limits, readable};
use crate::hex::hex;

/// Whether the scheme of a hash is supported.
pub fn is_checksum(hash: &str) -> bool {
    hash.starts_with("h1:") || hash.starts_with("zh:")
}

/// Returns the `zh:` hash of an archive: its SHA-256 checksum.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn archive_hash(mut archive: impl Read + Seek) -> io::Result<Arc<str>> {
    archive.rewind()?;
    Ok(format!("zh:{}", hex(&digest(&mut archive)?)).into())
}

/// Returns the `h1:` hash of the files in an archive. The unpacked directory has the same hash.
///
/// # Errors
/// Fails if the file cannot be read, is not a zip archive, exceeds the limits of a package, or has a name with a line
/// break.
pub fn content_hash(archive: &mut ZipArchive<impl Read + Seek>) -> io::Result<Arc<str>> {
    let mut lines = Vec::with_capacity(archive.len());
    let mut left = Limits::PROVIDER.bytes;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(io::Error::other)?;
        if !entry.is_dir() {
            let name = entry.name().map_err(io::Error::other)?.into_owned();
            // Nobody has said yet that the archive is what it should be, and a small one can unpack to anything.
            let mut bounded = entry.by_ref().take(left);
            let sum = hex(&digest(&mut bounded)?);
            left = bounded.limit();
            if left == 0 {
                let most = readable(Limits::PROVIDER.bytes);
                return Err(io::Error::other(format!(
                    "it unpacks to more than {most}, the limit for the package of a provider"
                )));
            }
            lines.push((name, sum));
        }
    }
    listing_hash(lines)
}

/// Returns the `h1:` hash of the files in a directory.
///
/// # Errors
/// Fails if a file cannot be read or has a name with a line break.
pub fn folder_hash(folder: &Path) -> io::Result<Arc<str>> {
    let mut lines = Vec::new();
    let mut rest = vec![(folder.canonicalize()?, String::new())];
    while let Some((folder, prefix)) = rest.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                rest.push((entry.path(), format!("{name}/")));
            } else {
                lines.push((name, hex(&digest(&mut File::open(entry.path())?)?)));
            }
        }
    }
    listing_hash(lines)
}

/// Hashes a file list as Go's checksum database defines. Names with line breaks are refused: two packages could have
/// one list.
fn listing_hash(mut lines: Vec<(String, String)>) -> io::Result<Arc<str>> {
    lines.sort_unstable();
    let mut hasher = Sha256::new();
    for (name, sum) in lines {
        if name.contains('\n') {
            return Err(io::Error::other(format!(
                "the file name {name:?} has a line break, which a package must not have"
            )));
        }
        hasher.update(format!("{sum}  {name}\n"));
    }
    Ok(format!("h1:{}", STANDARD.encode(hasher.finalize())).into())
}

fn digest(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().to_vec()),
            length => hasher.update(buffer.get(..length).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::archive::{Archive, Links};

    #[test]
    fn an_archive_and_the_folder_it_unpacks_to_have_one_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        for name in ["b", "a/c", "a-b"] {
            writer.start_file(name, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
            writer.write_all(name.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
        let target = folder.path().join("unpacked");
        Archive::Zip.unpack(File::open(&path).unwrap(), &target, "", Links::Refused, Limits::PROVIDER).unwrap();
        let mut archive = ZipArchive::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(content_hash(&mut archive).unwrap(), folder_hash(&target).unwrap());
    }

    #[test]
    fn a_file_name_that_looks_like_two_lines_of_the_list_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), "x").unwrap();
        write("a");
        assert!(folder_hash(folder.path()).is_ok());
        write("b\n00  c");
        assert!(folder_hash(folder.path()).unwrap_err().to_string().contains("line break"));
    }
}
