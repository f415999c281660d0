//! Configuration on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::files::{Entry, Files};

/// The files below (and beside) a root module's directory.
#[derive(Clone, Debug)]
pub struct DiskFiles {
    root: PathBuf,
}

impl DiskFiles {
    /// The files seen from the root module in `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

impl Files for DiskFiles {
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.root.join(directory))? {
            let entry = entry?;
            // A name that is not UTF-8 cannot be the name of a configuration file.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type()?;
            let is_directory = if kind.is_symlink() { entry.path().is_dir() } else { kind.is_dir() };
            entries.push(Entry { name, is_directory });
        }
        Ok(entries)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(self.root.join(path))
    }
}
