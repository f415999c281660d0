//! Parts of a journal that cannot be read.

use std::ops::Range;

/// What a journal has lost: bytes that are no longer those that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Unreadable bytes, by their offsets in the file.
    pub bytes: Vec<Range<u64>>,
    /// How many readable records refer to unreadable ones, so that they cannot be understood.
    pub records: usize,
    /// How many results were read without the dependencies of their objects.
    pub without_dependencies: usize,
}

impl Damage {
    /// Whether nothing is lost.
    pub fn is_none(&self) -> bool {
        self.bytes.is_empty() && self.records == 0 && self.without_dependencies == 0
    }

    /// How many bytes are unreadable.
    pub fn length(&self) -> u64 {
        self.bytes.iter().map(|range| range.end - range.start).sum()
    }
}
