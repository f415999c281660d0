//! Decoding of JSON string escapes, and of templates inside the strings.

use groma_diagnostics::Diagnostics;

use crate::ast::{Expression, ExpressionKind, JsonString, Name};
use crate::encoding::{Origin, Shift};
use crate::parser::Parser;

/// A string without quotes, with escapes resolved and a map back to source offsets.
pub(crate) struct Decoded {
    pub(crate) text: Name,
    pub(crate) shifts: Vec<Shift>,
}

/// An invalid escape: its offset in the string and its length.
pub(crate) struct BadEscape {
    pub(crate) at: usize,
    pub(crate) length: usize,
}

/// Resolves the escapes of `raw`, the text between the quotes.
pub(crate) fn decode(raw: &str) -> Result<Decoded, BadEscape> {
    // Most strings have no escapes, and then text and source offsets agree.
    if !raw.contains('\\') {
        return Ok(Decoded { text: Name::from(raw), shifts: Vec::new() });
    }
    let mut text = String::with_capacity(raw.len());
    let mut shifts = Vec::new();
    let mut at = 0;
    while let Some(backslash) = raw[at..].find('\\') {
        text.push_str(&raw[at..at + backslash]);
        at += backslash;
        let (character, length) = escape(&raw[at..]).map_err(|length| BadEscape { at, length })?;
        text.push(character);
        at += length;
        shifts.push(Shift { from: text.len() as u32, by: (at - text.len()) as u32 });
    }
    text.push_str(&raw[at..]);
    Ok(Decoded { text: Name::from(text), shifts })
}

/// Returns the character and the length of the escape at the start of `raw`, or the length of an invalid one.
fn escape(raw: &str) -> Result<(char, usize), usize> {
    let simple = |character| Ok((character, 2));
    match raw.as_bytes().get(1) {
        Some(b'"') => simple('"'),
        Some(b'\\') => simple('\\'),
        Some(b'/') => simple('/'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => {
            let first = code_unit(raw).ok_or(2usize)?;
            if let Some(character) = char::from_u32(first) {
                return Ok((character, 6));
            }
            // A lone surrogate is not a character and becomes U+FFFD.
            let second = raw.get(6..).filter(|rest| rest.starts_with("\\u")).and_then(code_unit);
            let pair = second.and_then(|second| char::decode_utf16([first as u16, second as u16]).next()?.ok());
            Ok(pair.map_or(('\u{fffd}', 6), |character| (character, 12)))
        }
        Some(_) => Err(1 + raw[1..].chars().next().map_or(0, char::len_utf8)),
        None => Err(1),
    }
}

fn code_unit(raw: &str) -> Option<u32> {
    let digits = raw.get(2..6).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Parses a decoded string as an expression. `base` is the absolute offset of its first character.
pub(crate) fn string(decoded: &Decoded, base: u32) -> JsonString {
    let text = Name::clone(&decoded.text);
    // Without a template sequence the text is a literal, which needs no parser.
    if !text.contains("${") && !text.contains("%{") {
        let end = decoded.text.len() as u32;
        let span = Origin { base, file: None, shifts: &decoded.shifts }.span(0, end);
        let template = Expression::new(ExpressionKind::String(Name::clone(&text)), span);
        return JsonString { text, template, diagnostics: Diagnostics::new() };
    }
    let mut parser = Parser::for_template(&text, Origin { base, file: None, shifts: &decoded.shifts });
    let template = parser.whole_template();
    let diagnostics = parser.finish();
    JsonString { text, template, diagnostics }
}
