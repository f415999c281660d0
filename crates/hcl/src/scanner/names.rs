//! What names are made of, and which bytes end a run of plain characters.

use groma_diagnostics::{begins_name, continues_name};

/// A byte that can be anywhere in a name (ASCII letters, digits, `_`, `-`).
pub(super) const NAME: u8 = 1;
/// A byte that ends a run of plain characters in a quoted string.
pub(super) const QUOTED_STOP: u8 = 2;
/// A byte that ends a run of plain characters in other templates.
pub(super) const TEMPLATE_STOP: u8 = 4;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let character = byte as u8;
        if character.is_ascii_alphanumeric() || character == b'_' || character == b'-' {
            table[byte] |= NAME;
        }
        if matches!(character, b'"' | b'\\' | b'$' | b'%' | b'\n' | b'\r') {
            table[byte] |= QUOTED_STOP;
        }
        if matches!(character, b'$' | b'%' | b'\n') {
            table[byte] |= TEMPLATE_STOP;
        }
        byte += 1;
    }
    table
}

pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}

/// Whether a line begins like an argument, or is a block's header or end.
pub(crate) fn looks_like_an_item(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let name = line.iter().position(|byte| !is(*byte, NAME)).unwrap_or(line.len());
    let after = line[name..].trim_ascii_start();
    line == b"}" || line.ends_with(b"{") || (name > 0 && after.starts_with(b"=") && !after.starts_with(b"=="))
}

/// Whether `text` is a name: letters, digits, `_` and `-`, not beginning with a digit or `-`.
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && identifier_length(text) == text.len()
}

/// How many bytes at the start of `text` are a name.
pub(super) fn identifier_length(text: &str) -> usize {
    let mut characters = text.char_indices();
    match characters.next() {
        Some((_, first)) if begins_name(first) => {}
        _ => return 0,
    }
    let end = characters.find(|(_, next)| !continues_name(*next));
    end.map_or(text.len(), |(at, _)| at)
}
