//! The file next to a journal that says which journals in the store are copies of its beginning.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file `<journal>.sent`.
///
/// Each line names a journal in the store, and the bytes of it that are certainly there. A line is written before the first segment,
/// because the answer of the store may be lost; the name then identifies the copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentNote(PathBuf);

/// A journal in the store that is the beginning of the local one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    pub run: String,
    /// The bytes that the store certainly had.
    pub bytes: u64,
    /// Whether the local journal was copied from the store. Then the machine that wrote it may have more.
    pub is_adopted: bool,
}

impl Copied {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let (run, bytes) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
        Some(Self { run, bytes, is_adopted: words.next() == Some(ADOPTED) })
    }
}

const ADOPTED: &str = "adopted";

impl SentNote {
    /// Returns the note next to the journal at this path.
    pub fn of(journal: &Path) -> Self {
        let mut path = journal.as_os_str().to_owned();
        path.push(".sent");
        Self(path.into())
    }

    /// Returns the path of the journal.
    pub fn journal(&self) -> PathBuf {
        self.0.with_extension("")
    }

    /// Returns the copies of the local journal, the newest last.
    pub fn read(&self) -> Vec<Copied> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        text.lines().filter_map(Copied::parse).collect()
    }

    // The methods below ignore failures: a disk that does not take the note does not take the journal either, which stops the run.

    /// Notes that a run begins to copy the journal. The earlier copies stay in the note until the store has a part of this one.
    pub fn begin(&self, run: &str) {
        let file = fs::OpenOptions::new().append(true).create(true).open(&self.0);
        let _ = file.and_then(|mut file| writeln!(file, "{run} 0"));
    }

    /// Notes that the store has so much of the journal. It is a copy under this name alone from now on.
    pub fn sent(&self, run: &str, bytes: u64) {
        let _ = fs::write(&self.0, format!("{run} {bytes}\n"));
    }

    /// Notes that the local journal is a copy of this one.
    pub fn adopted(&self, run: &str, bytes: u64) {
        let _ = fs::write(&self.0, format!("{run} {bytes} {ADOPTED}\n"));
    }

    /// Removes the note of a journal that is no longer there.
    pub fn remove(&self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let note = SentNote::of(&folder.path().join("journal"));
        assert_eq!(note.journal(), folder.path().join("journal"));
        assert_eq!(note.read(), []);
        note.adopted("a", 12);
        note.begin("b");
        let copy = |run: &str, bytes, is_adopted| Copied { run: run.to_owned(), bytes, is_adopted };
        assert_eq!(note.read(), [copy("a", 12, true), copy("b", 0, false)]);
        note.sent("b", 30);
        assert_eq!(note.read(), [copy("b", 30, false)]);
        note.remove();
        assert_eq!(note.read(), []);
        fs::write(folder.path().join("journal.sent"), "nothing\nc x\nd 4\n").unwrap();
        assert_eq!(note.read(), [copy("d", 4, false)]);
    }
}
