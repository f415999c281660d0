//! Sources of configuration text: directories on disk, or the snapshot in a saved plan.

mod directory;
mod disk;
mod memory;

pub(crate) use directory::{Syntax, mock_files, module_files, test_files};
pub use disk::DiskFiles;
pub use memory::MemoryFiles;

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

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

/// Removes `.` and `x/..` from a path; `..` steps that leave the root module's directory stay.
///
/// Purely textual, as in Terraform: symbolic links are resolved later, so `link/..` is the directory that contains the
/// link.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match normal.components().next_back() {
                Some(Component::Normal(_)) => {
                    normal.pop();
                }
                Some(Component::RootDir) => {}
                _ => normal.push(".."),
            },
            other => normal.push(other),
        }
    }
    normal
}

/// Formats a path for users: `/` as the separator, `.` for the root module's directory.
pub(crate) fn display(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { text.replace(std::path::MAIN_SEPARATOR, "/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalize_keeps_leading_parent_steps() {
        let normal = |path: &str| display(&normalize(Path::new(path)));
        assert_eq!(normal("./a/../b/./c"), "b/c");
        assert_eq!(normal("a/../../c"), "../c");
        assert_eq!(normal("../../x"), "../../x");
        assert_eq!(normal("./"), ".");
        assert_eq!(normal("/a/../../b"), "/b");
    }
}
