//! Strings, numbers and keywords of the JSON syntax.

use groma_diagnostics::did_you_mean;

use super::{Failed, JsonParser};
use crate::ast::{Expression, ExpressionKind, Name, Node};
use crate::json_string::{self, BadEscape};

impl JsonParser<'_> {
    /// Returns the offset after the string that begins here: after its closing quote, or at the line end that breaks
    /// it.
    pub(super) fn end_of_string(&self) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'"' => return end + 1,
                b'\\' => end += 2,
                // JSON strings cannot contain control characters, so a line end breaks the string.
                0..=31 => return end,
                _ => end += 1,
            }
        }
        bytes.len()
    }

    pub(super) fn string(&mut self) -> Result<Expression, Failed> {
        let start = self.at;
        let end = self.end_of_string();
        self.at = end;
        let span = self.span(start, end);
        let Some(raw) = self.text.get(start + 1..end).and_then(|raw| raw.strip_suffix('"')) else {
            // A backslash skips one byte, which may be the first of several of a character.
            self.at = self.text.ceil_char_boundary(end);
            let found = self.here();
            let detail = "The string is not closed on its line. Write \\n for a line break in a string.";
            self.error("Invalid JSON string", detail, found);
            return Err(Failed);
        };
        match json_string::decode(raw) {
            Ok(decoded) => {
                let string = json_string::string(&decoded, span.start() + 1);
                Ok(Expression::new(ExpressionKind::JsonString(Node::new(string)), span))
            }
            Err(BadEscape { at, length }) => {
                let at = start + 1 + at;
                let detail = "Unsupported escape sequence in a JSON string. Write \\\\ for a backslash.";
                let span = self.span(at, at + length);
                self.error("Invalid JSON string", detail, span);
                Err(Failed)
            }
        }
    }

    pub(super) fn number(&mut self) -> Result<Expression, Failed> {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        // Everything that looks like a number is one token, so that an invalid one is reported as a whole.
        let length = rest.iter().position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'));
        self.at = start + length.unwrap_or(rest.len());
        let digits = &self.text[start..self.at];
        let span = self.span(start, self.at);
        if !is_json_number(digits) {
            let detail = "Invalid number: JSON allows no leading zero or plus sign, and requires digits on both sides of a \
                          decimal point.";
            self.error("Invalid JSON number", detail, span);
            return Err(Failed);
        }
        Ok(Expression::new(ExpressionKind::Number(Name::from(digits)), span))
    }

    pub(super) fn keyword(&mut self) -> Result<Expression, Failed> {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let length = rest.iter().position(|byte| !byte.is_ascii_alphabetic() && *byte != b'_');
        self.at = start + length.unwrap_or(rest.len());
        let word = &self.text[start..self.at];
        let span = self.span(start, self.at);
        let kind = match word {
            "true" => ExpressionKind::Bool(true),
            "false" => ExpressionKind::Bool(false),
            "null" => ExpressionKind::Null,
            _ => {
                let hint = did_you_mean(word, ["false", "true", "null"]);
                let detail = format!("\"{word}\" is not a JSON keyword.{hint} Strings must be in double quotes.");
                self.error("Invalid JSON keyword", detail, span);
                return Err(Failed);
            }
        };
        Ok(Expression::new(kind, span))
    }
}

fn is_json_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}
