//! Texts as string literals of the language.

/// Appends `text` as a string literal, quotes included.
pub fn write_literal(text: &str, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = groma_diagnostics::write_literal(text, out);
}

/// Appends `text` as it stands between the quotes of a literal.
pub(crate) fn write_literal_content(text: &str, out: &mut String) {
    let _ = groma_diagnostics::write_literal_content(text, out);
}
