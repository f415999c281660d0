//! Formatting of strings as literals.

/// Appends `text` as a quoted string literal.
pub fn write_literal(text: &str, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = groma_diagnostics::write_literal(text, out);
}

/// Appends `text` escaped for a string literal, without the quotes.
pub(crate) fn write_literal_content(text: &str, out: &mut String) {
    let _ = groma_diagnostics::write_literal_content(text, out);
}
