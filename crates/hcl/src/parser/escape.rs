//! Escape sequences of strings and templates.

use std::borrow::Cow;

use groma_diagnostics::Diagnostic;
use thiserror::Error;

use super::Parser;
use crate::ast::Name;
use crate::token::{Token, TokenKind};

/// Returns the sequence start that a doubled sign escapes.
fn doubled_sign(text: &str) -> Option<&'static str> {
    if text.starts_with("$${") {
        Some("${")
    } else if text.starts_with("%%{") {
        Some("%{")
    } else {
        None
    }
}

/// Resolves the escapes of text without backslash escapes: a part of a heredoc or an unquoted template.
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
    /// Returns the unescaped text of a quoted-text token as a shared name.
    pub(super) fn quoted_text(&mut self, token: Token) -> Name {
        if token.kind == TokenKind::QuotedText {
            return self.name_of(token);
        }
        let text = self.unescaped(token);
        self.names.share_text(&text)
    }

    /// Resolves the escapes of a quoted-text token.
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
                    Err(error) => {
                        let span = self.bytes_span(start + at, start + at + length);
                        self.value_error(Diagnostic::error("Invalid escape sequence", error.to_string()).at(span));
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

/// The reason why a backslash and what follows it are not an escape sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
enum EscapeError {
    #[error("Expected an escape sequence such as \\n or \\\" after the backslash. Write \\\\ for a backslash.")]
    Incomplete,
    #[error("\\{0} is not a valid escape sequence. Write \\\\ for a backslash.")]
    Unknown(char),
    #[error("Expected four hexadecimal digits after \\u.")]
    FourDigits,
    #[error("Expected eight hexadecimal digits after \\U.")]
    EightDigits,
    #[error("U+{0:04X} is not a Unicode character.")]
    NoCharacter(u32),
}

/// Resolves the escape at the start of `text`. Returns the character or an error message, and the length in bytes.
fn escape(text: &str) -> (Result<char, EscapeError>, usize) {
    let Some(selector) = text.chars().nth(1) else {
        return (Err(EscapeError::Incomplete), 1);
    };
    let simple = |character| (Ok(character), 2);
    match selector {
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        '"' => simple('"'),
        '\\' => simple('\\'),
        'u' => code_point(text, 4, EscapeError::FourDigits),
        'U' => code_point(text, 8, EscapeError::EightDigits),
        _ => (Err(EscapeError::Unknown(selector)), 1 + selector.len_utf8()),
    }
}

fn code_point(text: &str, digits: usize, expected: EscapeError) -> (Result<char, EscapeError>, usize) {
    let found = text.bytes().skip(2).take(digits).take_while(u8::is_ascii_hexdigit).count();
    let length = 2 + found;
    if found < digits {
        return (Err(expected), length);
    }
    // Eight hexadecimal digits always fit, so the fallback is never used.
    let number = u32::from_str_radix(&text[2..length], 16).unwrap_or(u32::MAX);
    let character = char::from_u32(number).ok_or(EscapeError::NoCharacter(number));
    (character, length)
}
