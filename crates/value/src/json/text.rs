//! Strings in JSON.

use std::fmt::Write;

/// Bytes that need an escape or further checks.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut at = 0;
    while at < 0x20 {
        special[at] = true;
        at += 1;
    }
    let bytes = *b"\"\\<>&\xe2";
    at = 0;
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    special
};

/// Writes a quoted JSON string. As Terraform does, `<`, `>`, `&` and the line separators are escaped too, so that the
/// text is safe inside a page.
pub(super) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if !SPECIAL[usize::from(byte)] {
            continue;
        }
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            b'<' => "\\u003c",
            b'>' => "\\u003e",
            b'&' => "\\u0026",
            0..=0x1f => "",
            0xe2 if text[at..].starts_with('\u{2028}') => "\\u2028",
            0xe2 if text[at..].starts_with('\u{2029}') => "\\u2029",
            _ => continue,
        };
        out.push_str(&text[start..at]);
        start = at + 1;
        match byte {
            0xe2 => start = at + '\u{2028}'.len_utf8(),
            _ if escape.is_empty() => {
                // Writing into a string cannot fail.
                let _ = write!(out, "\\u{byte:04x}");
            }
            _ => {}
        }
        out.push_str(escape);
    }
    out.push_str(&text[start..]);
    out.push('"');
}
