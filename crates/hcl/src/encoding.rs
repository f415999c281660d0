//! Bytes that are not UTF-8: detection and reporting.
//!
//! As in Terraform, comments may contain any bytes. Elsewhere a non-UTF-8 byte is an error, because its intended
//! character is unknown.

use groma_diagnostics::{Diagnostic, Diagnostics, InvalidByte, SourceFile, Span};

use crate::token::{TokenKind, Tokens};

pub(crate) const SUMMARY: &str = "Invalid character encoding";

/// The maximum number of reported runs of invalid bytes.
const MAX_REPORTED: usize = 20;

/// The maximum number of bytes listed in one message.
const MAX_LISTED: usize = 8;

/// Reports invalid bytes outside of comments. Adjacent bytes are reported together.
pub(crate) fn check(tokens: &Tokens, origin: &Origin<'_>) -> Diagnostics {
    let invalid = origin.file.map(SourceFile::invalid_bytes).unwrap_or_default();
    let outside = outside_comments(tokens, invalid);
    let runs = outside.chunk_by(|one, next| one.at as usize + InvalidByte::WIDTH == next.at as usize);
    let diagnostics = runs.take(MAX_REPORTED).map(|run| {
        let start = run.first().map_or(0, |byte| byte.at);
        let end = run.last().map_or(start, |byte| byte.at.saturating_add(InvalidByte::WIDTH as u32));
        Diagnostic::error(SUMMARY, detail(run)).at(origin.span(start, end))
    });
    diagnostics.collect()
}

/// Returns the bytes of `invalid` that are not in comments.
pub(crate) fn outside_comments(tokens: &Tokens, invalid: &[InvalidByte]) -> Vec<InvalidByte> {
    let is_outside = |byte: &&InvalidByte| {
        let after = tokens.list.partition_point(|token| token.start <= byte.at);
        let token = after.checked_sub(1).map(|index| tokens.at(index));
        !token.is_some_and(|token| token.kind == TokenKind::Comment && byte.at < token.end)
    };
    invalid.iter().filter(is_outside).copied().collect()
}

fn detail(run: &[InvalidByte]) -> String {
    let mut bytes: Vec<String> = run.iter().take(MAX_LISTED).map(|byte| format!("0x{:02X}", byte.byte)).collect();
    if run.len() > MAX_LISTED {
        bytes.push("...".to_owned());
    }
    let (noun, verb) = if run.len() == 1 { ("The byte", "is") } else { ("The bytes", "are") };
    format!("{noun} {} {verb} not valid UTF-8. Save the file with UTF-8 encoding.", bytes.join(" "))
}

/// Reports a file in UTF-16, which cannot be parsed at all.
pub(crate) fn utf16(file: &SourceFile) -> Option<Diagnostic> {
    file.is_utf16().then(|| {
        let detail =
            "The file is UTF-16, as written by redirection (>) in Windows PowerShell. Save the file with UTF-8 encoding.";
        let mark: Span = file.span(0, 2 * InvalidByte::WIDTH);
        Diagnostic::error(SUMMARY, detail).at(mark)
    })
}

/// Appends `text` as a quoted string literal.
pub fn write_literal(text: &str, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = groma_diagnostics::write_literal(text, out);
}

/// Appends `text` escaped for a string literal, without the quotes.
pub(crate) fn write_literal_content(text: &str, out: &mut String) {
    let _ = groma_diagnostics::write_literal_content(text, out);
}

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
