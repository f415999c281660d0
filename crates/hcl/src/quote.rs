//! Texts as string literals of the language.

use groma_diagnostics::{write_literal, write_literal_content};

/// Appends `text` as a string literal, quotes included.
pub fn write_quoted(text: &str, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = write_literal(text, out);
}

/// Appends `text` as it stands between the quotes of a literal.
pub(crate) fn write_escaped(text: &str, out: &mut String) {
    let _ = write_literal_content(text, out);
}
