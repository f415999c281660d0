//! Texts as string literals of the language.

use std::fmt::Write;

/// Appends `text` as a string literal, quotes included.
pub fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    write_escaped(text, out);
    out.push('"');
}

/// Appends `text` as it stands between the quotes of a literal: escapes, and doubled template introducers.
pub(crate) fn write_escaped(text: &str, out: &mut String) {
    for (at, character) in text.char_indices() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '$' | '%' if text.as_bytes().get(at + 1) == Some(&b'{') => out.extend([character, character]),
            ' '..='~' => out.push(character),
            _ if is_printable(character) => out.push(character),
            _ if u32::from(character) < 0x1_0000 => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => {
                let _ = write!(out, "\\U{:08x}", u32::from(character));
            }
        }
    }
}

/// Letters, marks, numbers, punctuation and symbols.
fn is_printable(character: char) -> bool {
    // After another character the standard library escapes just what is not printable, and leaves marks alone.
    let mut pair = String::with_capacity(8);
    pair.extend(['a', character]);
    pair.escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_as_what_it_was() {
        let mut out = String::new();
        write_quoted("a\"b\\c\t\n${x} %{y} $${ $x é e\u{301} \u{1}\u{2028}\u{e0001}", &mut out);
        assert_eq!(out, "\"a\\\"b\\\\c\\t\\n$${x} %%{y} $$${ $x é e\u{301} \\u0001\\u2028\\U000e0001\"");
    }
}
