//! Reasons to refuse an archive.

use std::io;

pub(super) const LEADS_OUTSIDE: &str = "is a link that leads outside of the package directory";

pub(super) fn outside(name: &str) -> io::Error {
    refused(name, "would be written outside of the package directory")
}

pub(super) fn refused(name: &str, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive is refused: its entry {name:?} {why}"))
}
