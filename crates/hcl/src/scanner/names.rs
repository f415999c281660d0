//! Runs of bytes of one class: what names are made of, and the plain characters of strings and templates.

use groma_diagnostics::{begins_name, continues_name};

/// A byte that can be anywhere in a name (ASCII letters, digits, `_`, `-`).
pub(super) const NAME: u8 = 1;
/// A byte that means nothing but itself in a quoted string.
pub(super) const QUOTED_PLAIN: u8 = 2;
/// A byte that means nothing but itself in other templates, and does not end a line.
pub(super) const TEMPLATE_PLAIN: u8 = 4;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let character = byte as u8;
        if character.is_ascii_alphanumeric() || character == b'_' || character == b'-' {
            table[byte] |= NAME;
        }
        if !matches!(character, b'"' | b'\\' | b'$' | b'%' | b'\n' | b'\r') {
            table[byte] |= QUOTED_PLAIN;
        }
        if !matches!(character, b'$' | b'%' | b'\n') {
            table[byte] |= TEMPLATE_PLAIN;
        }
        byte += 1;
    }
    table
}

const fn is(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}

/// Returns the number of leading bytes that are of `class`.
// The compiler takes it for too long to be put in place, and then it is a call for each name.
#[inline(always)]
pub(super) fn run(bytes: &[u8], class: u8) -> usize {
    let mut rest = bytes;
    // One length check is enough for this many bytes, and most runs are shorter.
    while let Some((some, more)) = rest.split_first_chunk::<16>() {
        if let Some(at) = some.iter().position(|byte| !is(*byte, class)) {
            return bytes.len() - rest.len() + at;
        }
        rest = more;
    }
    bytes.len() - rest.len() + rest.iter().position(|byte| !is(*byte, class)).unwrap_or(rest.len())
}

/// Whether a line begins like an argument, or is a block's header or end.
pub(crate) fn looks_like_an_item(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let name = run(line, NAME);
    let after = line[name..].trim_ascii_start();
    line == b"}" || line.ends_with(b"{") || (name > 0 && after.starts_with(b"=") && !after.starts_with(b"=="))
}

/// Whether `text` is a name: letters, digits, `_` and `-`, not beginning with a digit or `-`.
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && identifier_length(text) == text.len()
}

/// Returns the length in bytes of the identifier at the start of `text`.
pub(super) fn identifier_length(text: &str) -> usize {
    let mut characters = text.char_indices();
    match characters.next() {
        Some((_, first)) if begins_name(first) => {}
        _ => return 0,
    }
    let end = characters.find(|(_, next)| !continues_name(*next));
    end.map_or(text.len(), |(at, _)| at)
}
