//! Content of packages, and data from providers, registries and clouds.

use std::fs::File;
use std::sync::{Arc, OnceLock};

use groma_cloudcontrol::emulator::{Settings, Store};
use groma_cloudcontrol::schema::{self, Catalogue, Pattern};
use groma_install::archive::{Archive, Limits, Links};
use groma_install::providers::hash;
use groma_install::providers::signature::PublicKey;
use groma_plugin::transport::parse_reattach;
use groma_plugin::{Protocol, wire};

use super::{in_a_folder, text};

/// The endings of the archives that are unpacked, each with another way to pack.
const ENDINGS: [&str; 7] = ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst", "gz"];

/// Nothing of an archive is written outside of its folder, whatever links it has.
pub fn archive(bytes: &[u8]) {
    in_a_folder(|folder| {
        let path = folder.join("archive");
        if std::fs::write(&path, bytes).is_err() {
            return;
        }
        let _ = File::open(&path).and_then(hash::archive_hash);
        for ending in ENDINGS {
            let target = folder.join("outer").join(ending);
            let (Some(archive), Ok(file)) = (Archive::named(ending), File::open(&path)) else { continue };
            let links = if bytes.len().is_multiple_of(2) { Links::Inside } else { Links::Refused };
            if archive.unpack(file, &target, "single", links, Limits::MODULE).is_ok() {
                let _ = hash::folder_hash(&target);
            }
        }
        let outside: Vec<_> = std::fs::read_dir(folder.join("outer")).into_iter().flatten().flatten().collect();
        assert!(outside.iter().all(|entry| ENDINGS.iter().any(|ending| entry.file_name() == **ending)), "{outside:?}");
        let above = std::fs::read_dir(folder).into_iter().flatten().flatten().count();
        assert_eq!(above, 1 + usize::from(folder.join("outer").exists()));
    });
}

/// Keys and signatures are read or refused; none that was made up is right.
pub fn signature(bytes: &[u8]) {
    const KEY: &str = include_str!("../../crates/install/tests/signatures/key.asc");
    static GOOD: OnceLock<Option<PublicKey>> = OnceLock::new();
    if let Ok(key) = PublicKey::parse(text(bytes)) {
        key.id();
        key.is_hashicorp();
        let _ = key.verify(b"a text that nobody signed", bytes);
    }
    if let Some(key) = GOOD.get_or_init(|| PublicKey::parse(KEY).ok()) {
        assert!(key.verify(b"a text that nobody signed", bytes).is_err());
    }
}

/// The answers of a provider are decoded or rejected.
pub fn plugin(bytes: &[u8]) {
    for protocol in [Protocol::V5, Protocol::V6] {
        let _ = wire::schema_of(bytes, protocol);
    }
    let _ = parse_reattach(text(bytes));
}

/// A resource type schema is read or refused; so are its patterns, which then can be matched.
pub fn type_schema(bytes: &[u8]) {
    let text = text(bytes);
    let _ = schema::parse(text);
    let pattern = Pattern::new(text);
    if pattern.is_supported() {
        pattern.matches("aws-example_01");
    }
}

/// The file of the emulator is opened, or it is told what is wrong with it; a line of it is tried with the right checksum too.
pub fn emulator_file(bytes: &[u8]) {
    let summed: String =
        text(bytes).lines().map(|line| format!("{:08x} {line}\n", checksum(line.as_bytes()))).collect();
    for content in [bytes, summed.as_bytes()] {
        in_a_folder(|folder| {
            let path = folder.join("emulator");
            if std::fs::write(&path, content).is_err() {
                return;
            }
            let catalogue = Arc::new(Catalogue::of_documents([]));
            if let Ok(store) = Store::open(&path, catalogue, Settings::default()) {
                let _ = store.objects(None);
            }
        });
    }
}

/// The usual sum of 32 bits, as it is in the file.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32| (sum >> 1) ^ (0xEDB8_8320 & (0_u32.wrapping_sub(sum & 1)));
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum)))
}
