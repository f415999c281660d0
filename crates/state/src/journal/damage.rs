//! Parts of a journal that cannot be read.

use std::ops::Range;

/// The damage to a journal: bytes that differ from those that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Unreadable bytes, by their offsets in the file.
    pub bytes: Vec<Range<u64>>,
    /// The number of readable records that refer to unreadable ones.
    pub records: usize,
    /// The number of results that were read without the dependencies of their objects.
    pub without_dependencies: usize,
}

impl Damage {
    /// Whether nothing is lost.
    pub fn is_none(&self) -> bool {
        self.bytes.is_empty() && self.records == 0 && self.without_dependencies == 0
    }

    /// The number of unreadable bytes.
    pub fn length(&self) -> u64 {
        self.bytes.iter().map(|range| range.end - range.start).sum()
    }
}
