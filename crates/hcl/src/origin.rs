//! From places in a text to places in the files it was written in.

use groma_diagnostics::{SourceFile, Span};

/// The location of a text in its file.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// The address of its first byte.
    pub(crate) base: u32,
    /// Its file, for messages that name a line.
    pub(crate) file: Option<&'a SourceFile>,
    /// The positions where the text is shorter than its source, because escapes were processed; in order.
    pub(crate) shifts: &'a [Shift],
}

/// From the byte `from` of a text on, everything was written `by` bytes further on (in total, not since the last shift).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    pub(crate) from: u32,
    pub(crate) by: u32,
}

impl Origin<'_> {
    /// The span of bytes of the text.
    #[inline]
    pub(crate) fn span(&self, start: u32, end: u32) -> Span {
        // A file of the native syntax has no shifts, and every node asks.
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
