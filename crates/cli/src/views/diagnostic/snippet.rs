//! The lines of source that a diagnostic shows.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Position, SourceFile, Sources, Span};

use super::enclosing::enclosing_block;

/// The location of a diagnostic's subject.
#[derive(Clone, Debug)]
pub struct Place {
    /// Name of the file.
    pub file: String,
    /// The first character of the subject.
    pub start: Position,
    /// One past its last character; never the same as the start.
    pub end: Position,
}

/// Whole lines around the text at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The top-level block that holds the text, as its header reads: `resource "aws_x" "y"`.
    pub context: Option<String>,
    /// The lines, joined by line ends.
    pub code: String,
    /// Number of the first line, from 1.
    pub start_line: u32,
    /// Bytes of `code` at fault, from.
    pub highlight_start: usize,
    /// Bytes of `code` at fault, up to.
    pub highlight_end: usize,
}

/// Finds the place and the lines of `diagnostic`; nothing when it is about no text.
pub fn locate(diagnostic: &Diagnostic, sources: &Sources) -> Option<(Place, Snippet)> {
    let subject = diagnostic.subject?;
    let file = sources.file(subject)?;
    let mut end = file.position(subject.end());
    let start = file.position(subject.start());
    if end.byte <= start.byte {
        end = Position { line: start.line, column: start.column + 1, byte: start.byte + 1 };
    }
    let snippet = cut(&file, subject, diagnostic.context.unwrap_or(subject), start, end);
    Some((Place { file: file.name().to_owned(), start, end }, snippet))
}

fn cut(file: &Arc<SourceFile>, subject: Span, context: Span, start: Position, end: Position) -> Snippet {
    let first = file.position(context.start()).line.min(start.line);
    let last_position = file.position(context.end().max(subject.end()));
    let last = last_position.line.max(start.line);
    let lines = (first..=last).map_while(|line| Some((line, file.line(line)?)));
    // As Terraform has it: a range that ends at the beginning of a line touches that line, and an empty line is never
    // touched.
    let lines: Vec<&str> =
        lines.filter(|(line, text)| *line == first || !text.is_empty()).map(|(_, text)| text).collect();
    let code = lines.join("\n");
    let text = file.text();
    let first_byte = start_of_line(text, file.position(context.start().min(subject.start())).byte as usize);
    let inside = |byte: u32| floor_boundary(&code, (byte as usize).saturating_sub(first_byte));
    let highlight_start = inside(start.byte);
    let highlight_end = inside(end.byte).max(highlight_start);
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
