//! Quoted strings, for messages and as literals of the language.
//!
//! Non-printable characters are always escaped, so that a reader sees what a string consists of.

use std::fmt::{self, Write};

/// Quotes `text` for messages, plans and the console, with the escapes of Go's `%q`.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    // Writing into a string cannot fail.
    let _ = write_quoted(text, &mut out);
    out
}

/// Writes `text` in the form that [`quoted`] returns.
///
/// # Errors
///
/// `out` fails.
pub fn write_quoted(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\u{7}' => out.write_str("\\a")?,
            '\u{8}' => out.write_str("\\b")?,
            '\u{c}' => out.write_str("\\f")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '\u{b}' => out.write_str("\\v")?,
            '\0'..='\u{1f}' | '\u{7f}' => write!(out, "\\x{:02x}", u32::from(character))?,
            _ => write_character(character, out)?,
        }
    }
    out.write_char('"')
}

/// Writes `text` as a string literal of the language, quotes included.
///
/// # Errors
///
/// `out` fails.
pub fn write_literal(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    write_literal_content(text, out)?;
    out.write_char('"')
}

/// Writes the content of a string literal without its quotes: escapes, and doubled template introducers (`$${`).
///
/// # Errors
///
/// `out` fails.
pub fn write_literal_content(text: &str, out: &mut impl Write) -> fmt::Result {
    for (at, character) in text.char_indices() {
        // The index gives access to the character after the introducer.
        match character {
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            // Only before a brace: `$x` is literal text in the language.
            '$' | '%' if text.as_bytes().get(at + 1) == Some(&b'{') => {
                out.write_char(character)?;
                out.write_char(character)?;
            }
            _ => write_character(character, out)?,
        }
    }
    Ok(())
}

/// Writes a printable character as is, any other as a Unicode escape.
fn write_character(character: char, out: &mut impl Write) -> fmt::Result {
    match character {
        ' '..='~' => out.write_char(character),
        _ if is_printable(character) => out.write_char(character),
        '\u{10000}'.. => write!(out, "\\U{:08x}", u32::from(character)),
        _ => write!(out, "\\u{:04x}", u32::from(character)),
    }
}

/// Whether Go's `unicode.IsPrint` holds: letters, marks, numbers, punctuation, symbols and the plain space.
fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    // The standard library's debug escapes use the same categories, but also escape a combining mark at the start; the
    // `a` before the character prevents that.
    let mut buffer = [b'a', 0, 0, 0, 0];
    let length = 1 + character.encode_utf8(&mut buffer[1..]).len();
    std::str::from_utf8(&buffer[..length]).is_ok_and(|text| text.escape_debug().eq(text.chars()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_printable_characters_are_escaped() {
        assert_eq!(quoted("a\"b\\c\t${x}é\u{1} <>&\u{2028}"), "\"a\\\"b\\\\c\\t${x}é\\x01 <>&\\u2028\"");
        assert_eq!(quoted("\u{7}\u{8}\u{b}\u{c}\u{7f}\u{a0}\u{e0001}"), "\"\\a\\b\\v\\f\\x7f\\u00a0\\U000e0001\"");
    }

    #[test]
    fn literals_escape_quotes_and_template_introducers() {
        let mut out = String::new();
        write_literal("a\"b\\c\t\n${x} %{y} $${ $x é e\u{301} \u{1}\u{2028}\u{e0001}", &mut out).unwrap();
        assert_eq!(out, "\"a\\\"b\\\\c\\t\\n$${x} %%{y} $$${ $x é e\u{301} \\u0001\\u2028\\U000e0001\"");
    }
}
