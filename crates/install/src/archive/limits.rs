//! The limits on the size of packages.

use std::io;

/// The most that a package may hold once it is unpacked, so that a small download cannot fill the disk. The same number
/// of bytes bounds the archive itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The size of all files together.
    pub bytes: u64,
    /// The number of files, directories and links.
    pub entries: u64,
    /// The kind of package, for messages: `"a module"`.
    pub kind: &'static str,
}

impl Limits {
    /// The limits of module packages. A package is often an archive of a whole repository.
    pub const MODULE: Self = Self { bytes: 2 << 30, entries: 200_000, kind: "a module" };

    /// The limits of provider packages. The largest providers have less than 1 GiB, and about ten files.
    pub const PROVIDER: Self = Self { bytes: 4 << 30, entries: 50_000, kind: "a provider" };
}

/// A number of bytes as people read it: `2 GiB`.
pub(crate) fn readable(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    // The largest unit that divides the number: limits are round, and rounding would show another limit than the real
    // one.
    let unit = UNITS.iter().find(|(_, size)| bytes >= *size && bytes.is_multiple_of(*size));
    unit.map_or_else(|| format!("{bytes} bytes"), |(name, size)| format!("{} {name}", bytes / size))
}

/// The bytes and entries that an archive may still unpack.
pub(super) struct Allowance {
    limits: Limits,
    bytes: u64,
    entries: u64,
}

impl Allowance {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, bytes: limits.bytes, entries: limits.entries }
    }

    /// The bytes that are left.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes `bytes` for the entry `name`.
    pub(super) fn take_bytes(&mut self, bytes: u64, name: &str) -> io::Result<()> {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.ok_or_else(|| too_large(self.limits, Some(name)))?;
        Ok(())
    }

    /// Subtracts one entry from the limit.
    pub(super) fn take_entry(&mut self) -> io::Result<()> {
        let left = self.entries.checked_sub(1);
        self.entries = left.ok_or_else(|| too_many(self.limits))?;
        Ok(())
    }
}

pub(super) fn too_large(limits: Limits, name: Option<&str>) -> io::Error {
    let most = format!("larger than {}, the limit for the unpacked package of {}", readable(limits.bytes), limits.kind);
    io::Error::new(
        io::ErrorKind::InvalidData,
        match name {
            Some(name) => format!("the archive is refused: with its entry {name:?} the package becomes {most}"),
            None => format!("the archive is refused: its package would be {most}"),
        },
    )
}

pub(super) fn too_many(limits: Limits) -> io::Error {
    let problem = format!(
        "the archive is refused: it has more than {} entries, the limit for the package of {}",
        limits.entries, limits.kind
    );
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

pub(super) const LEADS_OUTSIDE: &str = "is a link that leads outside of the package directory";

pub(super) fn outside(name: &str) -> io::Error {
    refused(name, "would be written outside of the package directory")
}

pub(super) fn refused(name: &str, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive is refused: its entry {name:?} {why}"))
}
