//! Source texts, and the translation of spans into files, lines and columns.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::{Span, grapheme_count};

/// Registry of all source texts of a run, in one address space of 4 GiB.
///
/// Registration takes a shared reference because `templatefile` reads new files in the middle of an evaluation.
#[derive(Debug, Default)]
pub struct Sources {
    files: RwLock<Vec<Arc<SourceFile>>>,
}

/// A registered source text with its name and lazily computed line index.
#[derive(Debug)]
pub struct SourceFile {
    name: String,
    text: SourceText,
    invalid_bytes: Box<[InvalidByte]>,
    base: u32,
    line_starts: OnceLock<Vec<u32>>,
    outline: OnceLock<Vec<Section>>,
}

/// A named region of a file, in byte offsets: a block, or an object or array of the JSON syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The first byte of the header, or of the region itself if it has no header.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Kind and offset of the region's name.
    pub label: Label,
    /// Index of the enclosing section.
    pub parent: Option<usize>,
}

/// The name of a section, as a snippet shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// A block header, which ends before this byte.
    Header(usize),
    /// A quoted key, which begins at this byte.
    Key(usize),
    /// An array element: its index among its siblings.
    Element(usize),
    /// The unnamed top level of a file.
    Whole,
}

/// Text of a source file, shared between the registry, syntax trees and saved plans.
pub type SourceText = Arc<str>;

/// A human-readable position: line and column count from 1, columns in grapheme clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line number, counted from 1.
    pub line: u32,
    /// Column in grapheme clusters, counted from 1.
    pub column: u32,
    /// Byte offset in the file, counted from 0.
    pub byte: u32,
}

/// A span resolved to its file and to human-readable positions.
#[derive(Clone, Debug)]
pub struct Location {
    /// The file that contains the start of the span.
    pub file: Arc<SourceFile>,
    /// Position of the first character.
    pub start: Position,
    /// Position one past the last character.
    pub end: Position,
}

impl Sources {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers `text` under `name`: a path relative to the working directory, or a synthetic name such as `<value
    /// for var.name>`.
    ///
    /// Returns `None` when the address space of 4 GiB is used up.
    pub fn add(&self, name: impl Into<String>, text: impl Into<SourceText>) -> Option<Arc<SourceFile>> {
        self.register(name.into(), text.into(), Box::default())
    }

    /// Registers the bytes of a file, which may be invalid UTF-8 (see [`Decoded`]).
    ///
    /// Returns `None` when the address space of 4 GiB is used up.
    pub fn add_bytes(&self, name: impl Into<String>, bytes: Vec<u8>) -> Option<Arc<SourceFile>> {
        let Decoded { text, invalid } = Decoded::new(bytes);
        self.register(name.into(), text.into(), invalid.into())
    }

    fn register(&self, name: String, text: SourceText, invalid_bytes: Box<[InvalidByte]>) -> Option<Arc<SourceFile>> {
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        // One unused address after each file separates the end of a text from the start of the next one.
        // Base 0 stays free, so that `Span::NONE` belongs to no file.
        let base = files.last().map_or(1, |last| u64::from(last.base) + last.text.len() as u64 + 1);
        // The end position of a text must be addressable, too: errors at the end of a file point there.
        let end = base + text.len() as u64 + 1;
        if end > u64::from(u32::MAX) {
            return None;
        }
        let base = u32::try_from(base).ok()?;
        let file = Arc::new(SourceFile {
            name,
            text,
            invalid_bytes,
            base,
            line_starts: OnceLock::new(),
            outline: OnceLock::new(),
        });
        files.push(Arc::clone(&file));
        Some(file)
    }

    /// Returns the file that contains the start of `span`.
    pub fn file(&self, span: Span) -> Option<Arc<SourceFile>> {
        if span.is_none() {
            return None;
        }
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        // Bases ascend in order of registration, so a binary search finds the file.
        let after = files.partition_point(|file| file.base <= span.start());
        files.get(after.checked_sub(1)?).cloned()
    }

    /// Resolves `span` to its file, lines and columns.
    pub fn locate(&self, span: Span) -> Option<Location> {
        let file = self.file(span)?;
        let start = file.position(span.start());
        let end = file.position(span.end());
        Some(Location { file, start, end })
    }

    /// Returns the source text of `span`.
    pub fn text(&self, span: Span) -> Option<String> {
        let file = self.file(span)?;
        file.slice(span).map(str::to_owned)
    }
}

impl SourceFile {
    /// The path or synthetic name that the text was registered under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The complete text of the file.
    pub fn text(&self) -> &SourceText {
        &self.text
    }

    /// Bytes of the file that are not UTF-8, in order. Each is a replacement character in [`text`](Self::text).
    pub fn invalid_bytes(&self) -> &[InvalidByte] {
        &self.invalid_bytes
    }

    /// Whether the file is UTF-16, so that the decoded text is meaningless.
    pub fn is_utf16(&self) -> bool {
        // The byte order mark of UTF-16, which no UTF-8 text contains.
        let [first, second, ..] = &*self.invalid_bytes else { return false };
        first.at == 0
            && matches!([first.byte, second.byte], [0xff, 0xfe] | [0xfe, 0xff])
            && second.at as usize == InvalidByte::WIDTH
    }

    /// Address of the first byte; spans of this file are offset by it.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Returns the span of the bytes `start..end` of this file, clamped to the text.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let clamp =
            |offset: usize| self.base + u32::try_from(offset.min(self.text.len())).unwrap_or(u32::MAX - self.base);
        Span::new(clamp(start), clamp(end))
    }

    /// Returns the text of `span` if it lies in this file and on character boundaries.
    pub fn slice(&self, span: Span) -> Option<&str> {
        let start = span.start().checked_sub(self.base)? as usize;
        let end = span.end().checked_sub(self.base)? as usize;
        self.text.get(start..end)
    }

    /// Converts the address `at` to a line and column; an address outside of the file is clamped to the nearest end.
    pub fn position(&self, at: u32) -> Position {
        let byte = (at.saturating_sub(self.base) as usize).min(self.text.len());
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start as usize <= byte);
        let line_start = starts.get(line.saturating_sub(1)).map_or(0, |start| *start as usize);
        let before = self.text.get(line_start..byte).unwrap_or_default();
        let column = grapheme_count(before) + 1;
        Position { line: clamp(line), column: clamp(column), byte: clamp(byte) }
    }

    /// Returns line `line` (counted from 1) without its line terminator.
    pub fn line(&self, line: u32) -> Option<&str> {
        let index = (line as usize).checked_sub(1)?;
        let starts = self.line_starts();
        let start = *starts.get(index)? as usize;
        let end = starts.get(index + 1).map_or(self.text.len(), |next| *next as usize);
        self.text.get(start..end).map(|line| line.trim_end_matches(['\n', '\r']))
    }

    /// Returns the file's sections in source order; `read` computes them on the first call.
    pub fn outline(&self, read: impl FnOnce(&str) -> Vec<Section>) -> &[Section] {
        self.outline.get_or_init(|| read(&self.text))
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            // Computed on demand: most files never appear in a diagnostic.
            let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| clamp(at + 1));
            std::iter::once(0).chain(ends).collect()
        })
    }
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A byte that is not part of any UTF-8 character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidByte {
    /// Offset of the replacement character in the decoded text.
    pub at: u32,
    /// The original byte of the file.
    pub byte: u8,
}

impl InvalidByte {
    /// Length in bytes of the replacement character in the decoded text.
    pub const WIDTH: usize = char::REPLACEMENT_CHARACTER.len_utf8();
}

/// The text of a file, with one replacement character (U+FFFD) for each byte that is not UTF-8.
///
/// Comments may contain such bytes, for example in files saved as Latin-1. The parser decides whether a byte is in a
/// harmless position.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Valid UTF-8, with replacement characters.
    pub text: String,
    /// Bytes that are not UTF-8, in order.
    pub invalid: Vec<InvalidByte>,
}

impl Decoded {
    /// Decodes `bytes`. Valid UTF-8 is not copied.
    pub fn new(bytes: Vec<u8>) -> Self {
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => return Self { text, invalid: Vec::new() },
            Err(error) => error.into_bytes(),
        };
        let mut decoded = Self::default();
        for chunk in bytes.utf8_chunks() {
            decoded.text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                // The registry of sources refuses texts of more than 4 GiB, so a saturated offset is never used.
                let at = u32::try_from(decoded.text.len()).unwrap_or(u32::MAX);
                decoded.invalid.push(InvalidByte { at, byte: *byte });
                // One replacement for each byte, like Go, although `from_utf8_lossy` merges bytes of a truncated
                // sequence.
                decoded.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        decoded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_grapheme_clusters_and_lines_count_from_one() {
        let sources = Sources::new();
        sources.add("a.tf", "first\n").unwrap();
        let file = sources.add("b.tf", "x = 1\ne\u{301}é = 2\n").unwrap();
        let at = file.text().find('2').unwrap();
        let location = sources.locate(file.span(at, at + 1)).unwrap();
        assert_eq!(location.file.name(), "b.tf");
        assert_eq!((location.start.line, location.start.column), (2, 6));
        assert_eq!(location.file.line(2), Some("e\u{301}é = 2"));
    }

    #[test]
    fn none_span_has_no_location() {
        let sources = Sources::new();
        sources.add("a.tf", "").unwrap();
        assert!(sources.locate(Span::NONE).is_none());
    }

    #[test]
    fn empty_files_have_an_address() {
        let sources = Sources::new();
        let empty = sources.add("empty.tf", "").unwrap();
        let next = sources.add("next.tf", "a").unwrap();
        assert_eq!(sources.file(empty.span(0, 0)).unwrap().name(), "empty.tf");
        assert_eq!(sources.file(next.span(0, 1)).unwrap().name(), "next.tf");
    }

    #[test]
    fn each_invalid_byte_becomes_one_replacement_character() {
        let decoded = Decoded::new(b"a\xe9b\xe2\x82c".to_vec());
        assert_eq!(decoded.text, "a\u{fffd}b\u{fffd}\u{fffd}c");
        let invalid = [(1, 0xe9), (5, 0xe2), (8, 0x82)].map(|(at, byte)| InvalidByte { at, byte });
        assert_eq!(decoded.invalid, invalid);
        assert_eq!(Decoded::new("é\u{fffd}".into()).invalid, []);
    }
}
