//! Mapping of text offsets to spans in source files.

use groma_diagnostics::{SourceFile, Span};

/// The source of a text that is scanned or parsed.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// The absolute offset of the first byte.
    pub(crate) base: u32,
    /// The source file, for messages that name a line.
    pub(crate) file: Option<&'a SourceFile>,
    /// The positions where escapes were resolved, which makes the text shorter than its source; in order.
    pub(crate) shifts: &'a [Shift],
}

/// From byte `from` of the text on, source offsets are `by` bytes larger. The shift is cumulative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    pub(crate) from: u32,
    pub(crate) by: u32,
}

impl Origin<'_> {
    /// Converts a byte range of the text to a source span.
    #[inline]
    pub(crate) fn span(&self, start: u32, end: u32) -> Span {
        // Files in native syntax have no shifts, and this runs for every node.
        if self.shifts.is_empty() {
            Span::new(self.base + start, self.base + end)
        } else {
            Span::new(self.shifted(start), self.shifted(end))
        }
    }

    #[cold]
    fn shifted(&self, offset: u32) -> u32 {
        let before = self.shifts.partition_point(|shift| shift.from <= offset);
        let by = before.checked_sub(1).and_then(|last| self.shifts.get(last)).map_or(0, |shift| shift.by);
        self.base + offset + by
    }
}
