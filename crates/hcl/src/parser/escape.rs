//! Escape sequences in strings.

use std::borrow::Cow;

use groma_diagnostics::Diagnostic;

use super::Parser;
use crate::ast::Name;
use crate::token::{Token, TokenKind};

/// Returns the text of a doubled introducer, `$${` or `%%{`.
fn doubled_sign(text: &str) -> Option<&'static str> {
    if text.starts_with("$${") {
        Some("${")
    } else if text.starts_with("%%{") {
        Some("%{")
    } else {
        None
    }
}

/// The characters of a text without backslash escapes: a part of a heredoc or of a bare template.
pub(super) fn plain_text(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, b'$' | b'%')) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.find(['$', '%']) {
        result.push_str(&rest[..sign]);
        rest = &rest[sign..];
        let length = match doubled_sign(rest) {
            Some(meant) => {
                result.push_str(meant);
                3
            }
            None => {
                result.push_str(&rest[..1]);
                1
            }
        };
        rest = &rest[length..];
    }
    result.push_str(rest);
    Cow::Owned(result)
}

impl<'a> Parser<'a> {
    /// Returns the characters of a quoted string token, shared.
    pub(super) fn quoted_text(&mut self, token: Token) -> Name {
        if token.kind == TokenKind::QuotedText {
            return self.name_of(token);
        }
        let text = self.unescaped(token);
        self.names.share_text(&text)
    }

    /// Returns the characters of a quoted string token.
    pub(super) fn unescaped(&mut self, token: Token) -> Cow<'a, str> {
        let text = self.text_of(token);
        if token.kind == TokenKind::QuotedText {
            return Cow::Borrowed(text);
        }
        let mut result = String::with_capacity(text.len());
        let start = token.range().start;
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let special = rest.find(['\\', '$', '%']).unwrap_or(rest.len());
            result.push_str(&rest[..special]);
            at += special;
            let rest = &rest[special..];
            if let Some(meant) = doubled_sign(rest) {
                result.push_str(meant);
                at += 3;
            } else if rest.starts_with('\\') {
                let (meant, length) = escape(rest);
                match meant {
                    Ok(character) => result.push(character),
                    Err(detail) => {
                        let span = self.bytes_span(start + at, start + at + length);
                        self.value_error(Diagnostic::error("Invalid escape sequence", detail).at(span));
                        result.push_str(&rest[1..length]);
                    }
                }
                at += length;
            } else if let Some(sign) = rest.chars().next() {
                result.push(sign);
                at += 1;
            }
        }
        Cow::Owned(result)
    }
}

/// Parses the escape sequence at the start of `text`, and returns its length in bytes.
fn escape(text: &str) -> (Result<char, String>, usize) {
    let Some(selector) = text.chars().nth(1) else {
        let detail = "A backslash begins an escape such as \\n or \\\". For a backslash itself, write two.";
        return (Err(detail.to_owned()), 1);
    };
    let simple = |character| (Ok(character), 2);
    match selector {
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        '"' => simple('"'),
        '\\' => simple('\\'),
        'u' => code_point(text, 4, "Four hexadecimal digits belong after \\u."),
        'U' => code_point(text, 8, "Eight hexadecimal digits belong after \\U."),
        _ => {
            let detail = format!("There is no escape \\{selector}. For a backslash itself, write two.");
            (Err(detail), 1 + selector.len_utf8())
        }
    }
}

fn code_point(text: &str, digits: usize, wanted: &str) -> (Result<char, String>, usize) {
    let found = text.bytes().skip(2).take(digits).take_while(u8::is_ascii_hexdigit).count();
    let length = 2 + found;
    if found < digits {
        return (Err(wanted.to_owned()), length);
    }
    let number = u32::from_str_radix(&text[2..length], 16).unwrap_or(u32::MAX);
    let character = char::from_u32(number).ok_or_else(|| format!("There is no character U+{number:04X}."));
    (character, length)
}
