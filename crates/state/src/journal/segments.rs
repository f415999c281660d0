//! Segments: the parts of a journal in the store of a remote state.

use std::fmt;
use std::time::SystemTime;

use crate::error::StateError;

/// The content of the segment that ends a journal: a later segment of its run is refused.
pub(crate) const CLOSED: &[u8] = b"groma journal closed\n";

/// The name of a segment: the run that wrote it, and its number in the journal of that run, from 1 on. Number 0 is no part of the
/// journal, but the note that it was merged ([`SegmentId::is_merge_note`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId {
    /// The identifier of the run, which is valid in object names.
    pub run: String,
    /// The position in the journal.
    pub number: u32,
}

impl SegmentId {
    /// Parses the text form `RUN/NUMBER`; `None` if `text` is not the name of a segment.
    pub fn parse(text: &str) -> Option<Self> {
        let (run, number) = text.split_once('/')?;
        let is_valid = !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let number = number.parse().ok()?;
        is_valid.then(|| Self { run: run.to_owned(), number })
    }

    /// Returns the name of the note that a journal was merged.
    pub(crate) fn merge_note(run: &str) -> Self {
        Self { run: run.to_owned(), number: 0 }
    }

    /// Whether this is the note that the journal of `run` was merged. Segments of the journal stay where they cannot be deleted.
    pub fn is_merge_note(&self) -> bool {
        self.number == 0
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:08}", self.run, self.number)
    }
}

/// The result of creating a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentCreated {
    /// The store has the segment with this content.
    Yes,
    /// The store has a segment of this name with another content.
    Exists,
}

/// The journals of one state in its store.
///
/// The concatenated segments of a run are the beginning of the journal file of that run, byte for byte: sealed if the
/// state is encrypted. A segment is created once and never changed. A run that has merged the journal of another one leaves a note
/// for the machine of that one, and a run that cannot delete a journal leaves one for later runs.
pub trait SegmentStore: Send + Sync {
    /// Lists the segments of all runs, in no particular order.
    ///
    /// # Errors
    /// The service fails or refuses the access.
    fn list(&self) -> Result<Vec<SegmentId>, StateError>;

    /// Reads a segment; `None` if it does not exist.
    ///
    /// # Errors
    /// The service fails or refuses the access.
    fn read(&self, id: &SegmentId) -> Result<Option<Vec<u8>>, StateError>;

    /// Creates a segment unless one of this name exists. Repeating a creation whose answer was lost returns
    /// [`SegmentCreated::Yes`].
    ///
    /// # Errors
    /// The service fails or refuses the access.
    fn create(&self, id: &SegmentId, bytes: &[u8]) -> Result<SegmentCreated, StateError>;

    /// Deletes segments, the first one of each journal before its others. A missing one is not an error.
    ///
    /// # Errors
    /// The service fails or refuses the access.
    fn delete(&self, ids: &[SegmentId]) -> Result<(), StateError>;

    /// Returns the largest number of bytes in a segment.
    fn longest(&self) -> usize;

    /// Returns the current time: that of simulations is their own.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_names_are_parsed_back() {
        let id = SegmentId { run: "0a-b".to_owned(), number: 12 };
        assert_eq!(id.to_string(), "0a-b/00000012");
        assert_eq!(SegmentId::parse("0a-b/00000012"), Some(id));
        for other in ["", "a", "a/x", "a/-1", "/1", "a b/1", "a/1/2"] {
            assert_eq!(SegmentId::parse(other), None, "{other}");
        }
        assert!(SegmentId::parse("a/00000000").is_some_and(|id| id.is_merge_note()));
    }
}
