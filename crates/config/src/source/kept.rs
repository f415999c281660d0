//! Files of which some have been read already.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::directory::{Syntax, module_files};
use super::files::{Entry, Files};

/// The files of a module that were looked through; all else comes from where they are.
pub(crate) struct Kept<'a> {
    files: &'a dyn Files,
    read: HashMap<PathBuf, Vec<u8>>,
}

impl<'a> Kept<'a> {
    /// Reads the files of the module in `directory`; none if no text of theirs has `word` anywhere, nor may have it behind an escape
    /// of JSON.
    pub(crate) fn mentioning(word: &[u8], directory: &Path, files: &'a dyn Files) -> Option<Self> {
        let module = module_files(files.list(directory).ok()?);
        let mut is_mentioned = false;
        let mut read = HashMap::new();
        for (name, syntax) in module.primary.iter().chain(&module.overrides) {
            let path = directory.join(name);
            let Ok(text) = files.read(&path) else { continue };
            let has = |part: &[u8]| memchr::memmem::find(&text, part).is_some();
            is_mentioned = is_mentioned || has(word) || *syntax == Syntax::Json && has(b"\\u");
            read.insert(path, text);
        }
        is_mentioned.then_some(Self { files, read })
    }
}

impl Files for Kept<'_> {
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.files.list(directory)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read.get(path).map_or_else(|| self.files.read(path), |text| Ok(text.clone()))
    }

    fn follow(&self, path: &Path) -> PathBuf {
        self.files.follow(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    fn files(text: &str) -> MemoryFiles {
        let mut files = MemoryFiles::new();
        files.insert(Path::new("main.tf"), text.as_bytes().to_vec());
        files
    }

    #[test]
    fn what_was_looked_through_is_kept_and_all_else_comes_from_where_it_is() {
        let mut files = files("terraform { encryption {} }");
        files.insert(Path::new("other.txt"), b"other".to_vec());
        let kept = Kept::mentioning(b"encryption", Path::new(""), &files).unwrap();
        assert_eq!(kept.read.keys().collect::<Vec<_>>(), [Path::new("main.tf")]);
        for name in ["main.tf", "other.txt"] {
            assert_eq!(kept.read(Path::new(name)).unwrap(), files.read(Path::new(name)).unwrap());
        }
    }

    #[test]
    fn without_the_word_nothing_is_kept() {
        assert!(Kept::mentioning(b"encryption", Path::new(""), &files("terraform {}")).is_none());
        let mut json = MemoryFiles::new();
        json.insert(Path::new("main.tf.json"), br#"{"terraform": {"\u0065ncryption": {}}}"#.to_vec());
        assert!(Kept::mentioning(b"encryption", Path::new(""), &json).is_some());
    }
}
