//! The source lines that a diagnostic shows.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Position, SourceFile, Sources, Span};

use super::enclosing::enclosing_block;

/// Source location of a diagnostic. It is never empty.
#[derive(Clone, Debug)]
pub struct Location {
    /// Name of the file.
    pub file: String,
    /// Position of the first character.
    pub start: Position,
    /// Position after the last character.
    pub end: Position,
}

/// Complete source lines around the location of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// Header of the enclosing top-level block: `resource "aws_x" "y"`.
    pub context: Option<String>,
    /// The lines, joined by line breaks.
    pub code: String,
    /// Number of the first line, counted from 1.
    pub start_line: u32,
    /// Byte offset in `code` where the highlighted text starts.
    pub highlight_start: usize,
    /// Byte offset in `code` where the highlighted text ends.
    pub highlight_end: usize,
}

/// Returns the location and the source lines of `diagnostic`, if it refers to source text.
pub fn locate(diagnostic: &Diagnostic, sources: &Sources) -> Option<(Location, Snippet)> {
    let subject = diagnostic.subject?;
    let file = sources.file(subject)?;
    let mut end = file.position(subject.end());
    let start = file.position(subject.start());
    // An empty range is shown as one character, so that the underline is visible.
    if end.byte <= start.byte {
        end = Position { line: start.line, column: start.column + 1, byte: start.byte + 1 };
    }
    let snippet = cut(&file, subject, diagnostic.context.unwrap_or(subject), start, end);
    Some((Location { file: file.name().to_owned(), start, end }, snippet))
}

fn cut(file: &Arc<SourceFile>, subject: Span, context: Span, start: Position, end: Position) -> Snippet {
    // The lines cover the context and the problem, whichever begins first.
    let first = file.position(context.start()).line.min(start.line);
    let last_position = file.position(context.end().max(subject.end()));
    let last = last_position.line.max(start.line);
    let lines = (first..=last).map_while(|line| Some((line, file.line(line)?)));
    // As in Terraform, a range that ends at the beginning of a line includes that line, and empty lines are skipped after the
    // first.
    let lines: Vec<&str> =
        lines.filter(|(line, text)| *line == first || !text.is_empty()).map(|(_, text)| text).collect();
    let code = lines.join("\n");
    let text = file.text();
    let first_byte = start_of_line(text, file.position(context.start().min(subject.start())).byte as usize);
    // Offsets must not split a character: skipped empty lines may shift them.
    let inside = |byte: u32| floor_boundary(&code, (byte as usize).saturating_sub(first_byte));
    let highlight_start = inside(start.byte);
    let highlight_end = inside(end.byte).max(highlight_start);
    // The position decides the enclosing block, even if the context is larger.
    let context = enclosing_block(file, start.byte as usize);
    Snippet { context, highlight_start, highlight_end, start_line: first, code }
}

fn start_of_line(text: &str, byte: usize) -> usize {
    let before = text.get(..byte).unwrap_or(text);
    before.rfind('\n').map_or(0, |at| at + 1)
}

fn floor_boundary(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
