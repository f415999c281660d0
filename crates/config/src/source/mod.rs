//! Sources of configuration text: directories on disk, or the snapshot in a saved plan.

mod directory;
mod disk;
mod memory;
mod path;

pub(crate) use directory::{Syntax, mock_files, module_files, test_files};
pub use disk::DiskFiles;
pub use memory::MemoryFiles;
pub(crate) use path::{display, normalize};

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A directory entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// File name, which may be invalid UTF-8.
    pub name: OsString,
    /// Whether the entry is a directory, or a symbolic link to one.
    pub is_directory: bool,
}

/// Abstraction of the file system for the loader.
///
/// Relative paths start at the root module's directory (`modules/network/main.tf`, `../common/main.tf`); absolute
/// paths are used as they are.
pub trait Files: Send + Sync {
    /// Lists a directory in any order.
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>>;

    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Resolves symbolic links in a path to a directory. `path` is normalized: `..` occurs only at its start.
    fn follow(&self, path: &Path) -> PathBuf;
}
