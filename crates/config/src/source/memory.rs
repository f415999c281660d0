//! Configuration files in memory: the snapshot of a saved plan, or the text of a test.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::normalize;
use super::{Entry, Files};

/// In-memory files by path, relative to the root module's directory.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
    directories: BTreeMap<PathBuf, BTreeSet<Entry>>,
}

impl MemoryFiles {
    /// Creates an empty file system with a root directory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and returns the file system, for chaining.
    #[must_use]
    pub fn with(mut self, path: impl AsRef<Path>, text: impl Into<Vec<u8>>) -> Self {
        self.insert(path, text);
        self
    }

    /// Adds or replaces a file and creates its parent directories.
    pub fn insert(&mut self, path: impl AsRef<Path>, text: impl Into<Vec<u8>>) {
        let path = normalize(path.as_ref());
        let mut child = path.clone();
        let mut is_directory = false;
        while let (Some(name), Some(parent)) = (child.file_name(), child.parent()) {
            let entry = Entry { name: name.to_owned(), is_directory };
            let known = !self.directories.entry(parent.to_owned()).or_default().insert(entry);
            if known {
                break;
            }
            is_directory = true;
            child = parent.to_owned();
        }
        self.files.insert(path, text.into());
    }
}

impl<P: AsRef<Path>, T: Into<Vec<u8>>> FromIterator<(P, T)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        let mut all = Self::new();
        for (path, text) in files {
            all.insert(path, text);
        }
        all
    }
}

impl Files for MemoryFiles {
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let directory = normalize(directory);
        match self.directories.get(&directory) {
            Some(entries) => Ok(entries.iter().cloned().collect()),
            // The root directory exists even without files.
            None if directory.as_os_str().is_empty() => Ok(Vec::new()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.get(&normalize(path)).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Resolves a link, which is modeled as a file that contains its target.
    fn follow(&self, path: &Path) -> PathBuf {
        // A symbolic link in a snapshot is stored as a file at the link's path.
        let target = self.files.get(path).and_then(|target| std::str::from_utf8(target).ok());
        target.map_or_else(|| path.to_owned(), PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_derived_from_file_paths() {
        let files = MemoryFiles::new().with("main.tf", "").with("./a/b/x.tf", "x").with("../s/y.tf", "y");
        let names = |directory: &str| -> Vec<String> {
            files
                .list(Path::new(directory))
                .unwrap()
                .into_iter()
                .map(|entry| entry.name.into_string().unwrap())
                .collect()
        };
        assert_eq!(names(""), ["a", "main.tf"]);
        assert_eq!(names("a"), ["b"]);
        assert_eq!(names("a/b"), ["x.tf"]);
        assert_eq!(names("../s"), ["y.tf"]);
        assert_eq!(files.read(Path::new("a/../a/b/x.tf")).unwrap(), b"x");
        assert!(files.list(Path::new("missing")).is_err());
    }
}
