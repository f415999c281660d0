//! Errors about refused archives.

use std::io;

pub(super) const LEADS_OUTSIDE: &str = "is a link that leads outside of the package's folder";

pub(super) fn outside(name: &str) -> io::Error {
    refused(name, "would be written outside of the package's folder")
}

pub(super) fn refused(name: &str, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive is refused: its entry {name:?} {why}"))
}
