//! File system access of the loader.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name in the folder, which need not be UTF-8.
    pub name: OsString,
    /// Whether it is a folder itself.
    pub is_directory: bool,
}

/// File system access of the loader.
///
/// Paths are relative to the root module's directory (`modules/network/main.tf`, `../common/main.tf`); an absolute path
/// is what it is.
pub trait Files: Send + Sync {
    /// The entries of a folder, in any order.
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>>;

    /// The bytes of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The folder itself, where steps of the path are symbolic links; `path` has no `..` but at its beginning.
    fn follow(&self, path: &Path) -> PathBuf;
}
