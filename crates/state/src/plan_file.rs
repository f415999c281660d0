//! The file of a saved plan: a zip archive of named parts.
//!
//! What the parts hold is the engine's matter. The container says which version wrote it, because only that version
//! may apply it, protects its parts from being mixed up or truncated, and is written all or nothing, for its owner only:
//! a plan holds secrets in clear.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::Path;

use groma_diagnostics::io_reason;
use groma_encryption::{Encryption, is_sealed_plan};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::error::{StateError, StateErrorKind};
use crate::journal::failed;
use crate::store::write_whole;

/// The part that names the writer.
const HEADER: &str = "groma-plan";

/// The part by which plans of Terraform and OpenTofu are known.
const TERRAFORM_PART: &str = "tfplan";

/// The maximum size of all parts together: more than a plan of millions of instances needs.
const SIZE_LIMIT: u64 = 8 << 30;

/// The maximum memory that is allocated at once because the archive claims that a part is that large.
const EXPECTED_LIMIT: u64 = 64 << 20;

/// The maximum number of parts.
const PART_LIMIT: usize = 100_000;

/// A part of this size or more is not compressed: writing and reading it would take longer than the disk does.
const STORED_FROM: usize = 16 << 20;

/// The parts of a plan file, by name.
pub type Parts = BTreeMap<String, Vec<u8>>;

/// Writes a plan file, sealed where that is wanted, which names `version` as its writer.
///
/// # Errors
/// Fails if the file cannot be written. A file that was there before is still there then.
pub fn write(path: &Path, version: &str, parts: &Parts, encryption: Option<&Encryption>) -> Result<(), StateError> {
    let mut bytes = archive(version, parts).map_err(|error| StateError::io("write", path, &io::Error::other(error)))?;
    if let Some(encryption) = encryption {
        bytes = encryption.seal(&bytes, None).map_err(failed)?;
    }
    write_whole(path, &bytes).map_err(|error| StateError::io("write", path, &error))
}

fn archive(version: &str, parts: &Parts) -> Result<Vec<u8>, ZipError> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let header = (HEADER, version.as_bytes());
    for (name, bytes) in [header].into_iter().chain(parts.iter().map(|(name, bytes)| (&**name, &**bytes))) {
        let method = if bytes.len() < STORED_FROM { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .compression_level((method == CompressionMethod::Deflated).then_some(1))
            // No timestamp: equal plans give equal files.
            .last_modified_time(DateTime::default())
            // Plans contain secrets in plain text, so only their owner may read them.
            .unix_permissions(0o600)
            .large_file(bytes.len() as u64 >= u64::from(u32::MAX));
        zip.start_file(name, options)?;
        zip.write_all(bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Whether the file begins as a plan file does, or is a sealed one: to tell it from a state file. A missing file does not.
pub fn is_plan_file(path: &Path) -> bool {
    let mut begin = [0; 4];
    let is_readable = File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok();
    is_readable
        && (begin == *b"PK\x03\x04"
            // An encrypted plan is a JSON document, like an encrypted state, so its content decides.
            || begin[0] == b'{' && std::fs::read(path).is_ok_and(|bytes| is_sealed_plan(&bytes)))
}

/// Reads a plan file that `version` wrote.
///
/// # Errors
/// Fails if the file does not exist, is not a plan file, is damaged, or was written by another version or program.
pub fn read(path: &Path, version: &str, encryption: Option<&Encryption>) -> Result<Parts, StateError> {
    let mut file = File::open(path).map_err(|error| cannot_open(path, &error))?;
    let mut begin = [0];
    let is_sealed = file.read_exact(&mut begin).is_ok() && begin == *b"{";
    file.rewind().map_err(|error| StateError::io("read", path, &error))?;
    let Some(encryption) = encryption else {
        let found = read_archive(path, io::BufReader::new(file), version, SIZE_LIMIT);
        return found.map_err(|error| if is_sealed && is_plan_file(path) { without_encryption(path) } else { error });
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| StateError::io("read", path, &error))?;
    // The file is neither encrypted nor an archive; reading it as an archive explains what it is.
    if !is_sealed_plan(&bytes) && !bytes.starts_with(b"PK") {
        return read_archive(path, Cursor::new(bytes), version, SIZE_LIMIT);
    }
    let opened = encryption.open(&bytes, "plan").map_err(|error| failed(error).in_file(path))?;
    read_archive(path, Cursor::new(opened.content), version, SIZE_LIMIT)
}

fn without_encryption(path: &Path) -> StateError {
    StateError::new(
        StateErrorKind::Unsupported,
        format!("Failed to load {:?} as a plan file", path.display().to_string()),
        "The plan is encrypted, and the configuration in this directory has no encryption block for plans.",
    )
}

fn read_archive(path: &Path, archive: impl Read + Seek, version: &str, limit: u64) -> Result<Parts, StateError> {
    let mut zip = ZipArchive::new(archive).map_err(|error| unreadable(path, &error))?;
    if zip.index_for_name(HEADER).is_none() {
        return Err(not_ours(path, &zip));
    }
    let header = zip.by_name(HEADER).map_err(|error| unreadable(path, &error))?;
    let writer = read_part(header, 16, 256).map_err(|error| unreadable(path, &error))?;
    // The encoding of a plan changes between versions without notice, so only the same version may read it.
    if writer != version.as_bytes() {
        return Err(StateError::new(
            StateErrorKind::Unsupported,
            "Invalid plan file",
            format!(
                "{} was made by version {} of Groma, this is version {version}. A plan can only be used by the version \
                 that made it: make a new plan.",
                path.display(),
                String::from_utf8_lossy(&writer)
            ),
        ));
    }
    // Before anything is read: an archive can claim any number of parts.
    if zip.len() > PART_LIMIT {
        return Err(too_large(path));
    }
    let mut parts = Parts::new();
    let mut room = limit;
    for index in 0..zip.len() {
        let part = zip.by_index(index).map_err(|error| unreadable(path, &error))?;
        let name = part.name().map_err(|error| unreadable(path, &error))?.into_owned();
        if name == HEADER {
            continue;
        }
        // Before decompression, whose result can be far larger than the file.
        if part.size() > room {
            return Err(too_large(path));
        }
        let expected = part.size().min(EXPECTED_LIMIT);
        let bytes = read_part(part, expected, room).map_err(|error| unreadable(path, &error))?;
        room = room.saturating_sub(bytes.len() as u64);
        parts.insert(name, bytes);
    }
    Ok(parts)
}

/// Reads a part, but no more than `limit` bytes of it, whatever the archive says about its size.
fn read_part(part: impl Read, expected: u64, limit: u64) -> Result<Vec<u8>, ZipError> {
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    // One byte more than allowed shows whether the part is too large.
    part.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(ZipError::InvalidArchive("a part is larger than the archive says".into()));
    }
    Ok(bytes)
}

fn cannot_open(path: &Path, error: &io::Error) -> StateError {
    match error.kind() {
        io::ErrorKind::NotFound => StateError::new(
            StateErrorKind::Io,
            format!("Failed to load {:?} as a plan file", path.display().to_string()),
            "The file does not exist. Create a plan with \"plan -out=FILE\" first, and pass that file; to select a directory, use \
             -chdir=FOLDER before the command.",
        ),
        _ => StateError::io("read", path, error),
    }
}

fn unreadable(path: &Path, error: &ZipError) -> StateError {
    StateError::malformed(
        &format!("Failed to load {:?} as a plan file", path.display().to_string()),
        match error {
            ZipError::Io(error) => {
                format!("The file is damaged or could not be read: {error}. Make a new plan.", error = io_reason(error))
            }
            _ => "The file is not a plan file, or is damaged. A plan file is made with \"plan -out=FILE\".".to_owned(),
        },
    )
}

fn not_ours<R: Read + Seek>(path: &Path, zip: &ZipArchive<R>) -> StateError {
    let is_terraforms = zip.index_for_name(TERRAFORM_PART).is_some();
    StateError::new(
        if is_terraforms { StateErrorKind::Unsupported } else { StateErrorKind::Malformed },
        format!("Failed to load {:?} as a plan file", path.display().to_string()),
        if is_terraforms {
            "The plan was made by Terraform or OpenTofu, and only the program that made a plan can use it. Make a new \
             plan with Groma, or apply this one with the program that made it."
        } else {
            "The file is a zip archive but not a plan file. A plan file is made with \"plan -out=FILE\"."
        },
    )
}

fn too_large(path: &Path) -> StateError {
    StateError::malformed(
        &format!("Failed to load {:?} as a plan file", path.display().to_string()),
        "The plan file has more or larger parts than any plan: it is damaged or was not made by Groma.",
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts() -> Parts {
        [("plan.json", &b"{\"a\":1}"[..]), ("config/main.tf", &[b'x'; 5000]), ("empty", b"")]
            .into_iter()
            .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()))
            .collect()
    }

    #[test]
    fn a_plan_file_gives_back_its_parts_and_is_for_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plan");
        assert!(!is_plan_file(&path));
        for _ in 0..2 {
            write(&path, "0.1.0", &parts(), None).unwrap();
            assert_eq!(read(&path, "0.1.0", None).unwrap(), parts());
        }
        assert!(is_plan_file(&path));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn unsupported_plan_file_is_explained() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plan");
        let detail = || read(&path, "0.1.0", None).unwrap_err().detail;
        assert!(detail().contains("The file does not exist"));
        std::fs::write(&path, "{\"version\":4}").unwrap();
        assert!(detail().contains("not a plan file"));
        write(&path, "0.0.9", &parts(), None).unwrap();
        assert!(detail().contains("made by version 0.0.9 of Groma, this is version 0.1.0"));
        for (part, expected) in [(TERRAFORM_PART, "made by Terraform or OpenTofu"), ("other", "a zip archive but not")]
        {
            let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
            zip.start_file(part, SimpleFileOptions::default().compression_method(CompressionMethod::Stored)).unwrap();
            std::fs::write(&path, zip.finish().unwrap().into_inner()).unwrap();
            assert!(detail().contains(expected), "{part}");
        }
        write(&path, "0.1.0", &parts(), None).unwrap();
        assert!(
            read_archive(&path, File::open(&path).unwrap(), "0.1.0", 5000).unwrap_err().detail.contains("larger parts")
        );
        assert!(write(&directory.path().join("no/such/folder"), "0.1.0", &parts(), None).is_err());
        std::fs::create_dir(directory.path().join("folder")).unwrap();
        assert!(read(&directory.path().join("folder"), "0.1.0", None).is_err());
    }

    proptest! {
        #[test]
        fn a_damaged_plan_file_is_an_error_or_the_same_plan(at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("plan");
            let mut bytes = archive("0.1.0", &parts()).unwrap();
            let at = at.index(bytes.len());
            bytes[at] = to;
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(found) = read(&path, "0.1.0", None) {
                // Names are not under a checksum; contents are.
                let contents = |parts: &Parts| { let mut all: Vec<_> = parts.values().cloned().collect(); all.sort(); all };
                let (found, all) = (contents(&found), contents(&parts()));
                prop_assert!(found.iter().all(|content| all.contains(content) || content == b"0.1.0"));
            }
        }
    }
}
