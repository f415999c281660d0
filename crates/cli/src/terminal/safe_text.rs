//! Replaces control characters, to protect terminals from escape sequences in untrusted text.
//!
//! Values, addresses and provider messages may contain control characters that move the cursor, hide text or change its
//! direction. They are replaced by visible characters: by control pictures such as `␛`, or by `�` if none exists.

use std::borrow::Cow;
use std::io::{self, Write};

use super::palette::{Palette, SEQUENCES};

/// Replacement of characters without a control picture.
const REPLACEMENT: char = '\u{fffd}';

/// Returns the text with visible control characters, except line breaks and tabs.
pub fn printable(text: &str) -> Cow<'_, str> {
    safe(text, Palette::Plain)
}

/// Returns the text as a single line, with visible control characters including line breaks and tabs.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    // Most text is safe, so the check avoids a copy.
    if !text.bytes().any(|byte| byte < b' ' || is_suspect(byte)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(visible).collect())
}

/// Replaces control characters, except line breaks, tabs and the escape sequences of `palette`.
fn safe(text: &str, palette: Palette) -> Cow<'_, str> {
    let Some(first) = next_unsafe(text, palette) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 8);
    let (mut rest, mut found) = (text, Some(first));
    while let Some(at) = found {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut characters = rest.chars();
        out.extend(characters.next().map(visible));
        rest = characters.as_str();
        found = next_unsafe(rest, palette);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the position of the first character of `text` that must be replaced.
fn next_unsafe(text: &str, palette: Palette) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if !is_suspect(*byte) {
            at += 1;
            continue;
        }
        let rest = &text[at..];
        let kept = kept(rest, palette);
        if kept == 0 {
            return Some(at);
        }
        at += kept;
    }
    None
}

/// Returns the length of the character or escape sequence at the start of `rest` if it is safe, else zero.
fn kept(rest: &str, palette: Palette) -> usize {
    match rest.chars().next() {
        // Only the program's own sequences pass, and only where colors are allowed.
        Some('\u{1b}') if palette == Palette::Ansi => {
            SEQUENCES.iter().find(|sequence| rest.starts_with(**sequence)).map_or(0, |sequence| sequence.len())
        }
        // A CRLF line ending is harmless; a lone carriage return could overwrite the line.
        Some('\r') if rest.starts_with("\r\n") => 2,
        Some(character) if visible(character) == character || matches!(character, '\n' | '\t') => character.len_utf8(),
        _ => 0,
    }
}

/// Whether a character that starts with `byte` may need to be replaced. Continuation bytes never do.
fn is_suspect(byte: u8) -> bool {
    match byte {
        b'\n' | b'\t' => false,
        // In UTF-8, C1 control characters start with C2, and bidirectional formatting characters with D8 or E2.
        0..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe2 => true,
        _ => false,
    }
}

/// Returns the replacement of a control or bidirectional formatting character, and any other character unchanged.
fn visible(character: char) -> char {
    match character {
        // The control pictures are in the same order as the characters.
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or(REPLACEMENT),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' => REPLACEMENT,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => REPLACEMENT,
        _ => character,
    }
}

/// Writer that replaces control characters. Escape sequences of its palette pass if each is written by a single call.
pub struct SafeWriter<W> {
    inner: W,
    palette: Palette,
    /// First bytes of a character that is not completely written yet.
    incomplete: Vec<u8>,
}

impl<W: Write> SafeWriter<W> {
    /// Creates a writer to `inner` that lets the escape sequences of `palette` pass.
    pub fn new(inner: W, palette: Palette) -> Self {
        Self { inner, palette, incomplete: Vec::new() }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.utf8_chunks() {
            self.inner.write_all(safe(chunk.valid(), self.palette).as_bytes())?;
            if !chunk.invalid().is_empty() {
                // An invalid byte could start an escape sequence in another encoding.
                let mut replacement = [0; 4];
                self.inner.write_all(REPLACEMENT.encode_utf8(&mut replacement).as_bytes())?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Fast path without copying.
        if self.incomplete.is_empty() && std::str::from_utf8(bytes).is_ok() {
            self.put(bytes)?;
            return Ok(bytes.len());
        }
        // A write may end in the middle of a character, which a later write completes.
        self.incomplete.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.incomplete);
        let (whole, tail) = pending.split_at(pending.len() - incomplete_tail(&pending));
        self.incomplete = tail.to_vec();
        self.put(whole)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Returns the number of bytes at the end of `bytes` that form an incomplete character.
fn incomplete_tail(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    last.map_or(0, |chunk| {
        let invalid = chunk.invalid();
        // `error_len` is `None` only if more bytes could complete the character.
        let is_begun = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if is_begun { invalid.len() } else { 0 }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::terminal::Tone;

    /// The text on a terminal after these writes, one after the other.
    fn written(palette: Palette, writes: &[&[u8]]) -> String {
        let mut writer = SafeWriter::new(Vec::new(), palette);
        writes.iter().for_each(|bytes| writer.write_all(bytes).unwrap());
        String::from_utf8(writer.inner).unwrap()
    }

    /// Whether a terminal could act on the character.
    fn acts(character: char) -> bool {
        (character.is_control() && !matches!(character, '\n' | '\t'))
            || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    }

    #[test]
    fn replaces_control_characters() {
        assert_eq!(printable("a\u{1b}[31m\n\tb\u{7f}"), "a\u{241b}[31m\n\tb\u{2421}");
        // On a single line even line breaks are replaced.
        assert_eq!(printable_line("a\r\nb\0"), "a\u{240d}\u{240a}b\u{2400}");
        assert_eq!(printable("c\u{9b}2J \u{202e}evil\u{2066}"), "c\u{fffd}2J \u{fffd}evil\u{fffd}");
        // The lone carriage return is replaced, the one before a line break is not.
        assert_eq!(printable("over\rwritten\r\n"), "over\u{240d}written\r\n");
    }

    #[test]
    fn keeps_text_of_all_scripts() {
        for text in ["é─ “quoted” \u{a0}", "العربية עברית 漢字 👩\u{200d}🚀", ""] {
            // Borrowed: safe text is not copied.
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text:?}");
            assert_eq!(printable_line(text), text);
        }
    }

    #[test]
    fn passes_only_escape_sequences_of_palette() {
        let red = Palette::Ansi.paint(Tone::Red, "a").to_string();
        assert_eq!(written(Palette::Ansi, &[red.as_bytes()]), red);
        assert_eq!(written(Palette::Plain, &[red.as_bytes()]), "\u{241b}[31ma\u{241b}[0m");
        assert_eq!(
            written(Palette::Ansi, &[b"\x1b[8mhidden\x1b]0;title\x07"]),
            "\u{241b}[8mhidden\u{241b}]0;title\u{2407}"
        );
    }

    proptest! {
        #[test]
        fn output_contains_no_control_characters(
            bytes in prop_oneof![any::<Vec<u8>>(), any::<String>().prop_map(String::into_bytes),
                "[\\x00-\\x1f\\x7f-\\x9f\u{202a}-\u{202e}a\\[]{0,40}".prop_map(String::into_bytes)],
            cut in any::<prop::sample::Index>(),
        ) {
            // The cut shows that no escape sequence slips through between two writes.
            let at = cut.index(bytes.len() + 1);
            let text = written(Palette::Plain, &[&bytes[..at], &bytes[at..]]);
            let without_line_ends = text.replace("\r\n", "\n");
            prop_assert!(!without_line_ends.contains(acts), "{text:?}");
            let line = String::from_utf8_lossy(&bytes).into_owned();
            prop_assert!(!printable_line(&line).contains(char::is_control));
        }

        #[test]
        fn split_writes_equal_single_write(text in any::<String>(), cut in any::<prop::sample::Index>()) {
            // A carriage return is judged by the next character, which a cut may separate.
            let text = text.replace('\r', "");
            let at = cut.index(text.len() + 1);
            let (first, second) = text.as_bytes().split_at(at);
            prop_assert_eq!(written(Palette::Plain, &[first, second]), printable(&text));
        }
    }
}
