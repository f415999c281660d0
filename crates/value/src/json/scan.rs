//! A pull scanner for JSON.

use crate::codec::{Failure, Outcome};
use crate::types::MAX_DEPTH;
use std::borrow::Cow;

/// Returns JSON bytes as a string; invalid UTF-8 becomes U+FFFD.
pub(super) fn text(json: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(json) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(json),
    }
}

/// A cursor over JSON text that tracks the nesting depth.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    deepest: usize,
}

/// The start of a JSON value.
pub(super) enum Token<'a> {
    Null,
    Bool(bool),
    /// The digits as written.
    Number(&'a str),
    String(Cow<'a, str>),
    /// `[`
    Array,
    /// `{`
    Object,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Scanner::with_depth(text, MAX_DEPTH)
    }

    /// Creates a scanner that accepts brackets nested up to `deepest`.
    pub fn with_depth(text: &'a str, deepest: usize) -> Self {
        Scanner { text, at: 0, depth: 0, deepest }
    }

    /// Creates a scanner for text that `outer` skipped with [`Scanner::raw`]; the nesting depth continues from there.
    pub fn nested(text: &'a str, outer: &Scanner<'_>) -> Self {
        Scanner { text, at: 0, depth: outer.depth + 1, deepest: outer.deepest }
    }

    /// The number of bytes read so far.
    pub fn offset(&self) -> usize {
        self.at
    }

    pub fn fail<T>(&self, message: impl Into<String>) -> Outcome<T> {
        Err(Failure::at(self.at, message))
    }

    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Reads a primitive value, or only the opening bracket of an array or object.
    pub fn token(&mut self) -> Outcome<Token<'a>> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string().map(Token::String)
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(Token::Number),
            Some(b'{') => self.open(Token::Object),
            Some(b'[') => self.open(Token::Array),
            Some(b't') => self.word("true", Token::Bool(true)),
            Some(b'f') => self.word("false", Token::Bool(false)),
            Some(b'n') => self.word("null", Token::Null),
            Some(_) => self.fail("expected a JSON value"),
            None => self.fail("unexpected end of JSON input"),
        }
    }

    fn open(&mut self, token: Token<'a>) -> Outcome<Token<'a>> {
        self.at += 1;
        self.depth += 1;
        if self.depth > self.deepest {
            return self.fail("the JSON is nested too deeply");
        }
        Ok(token)
    }

    fn word(&mut self, word: &str, token: Token<'a>) -> Outcome<Token<'a>> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(token)
        } else {
            self.fail("expected a JSON value")
        }
    }

    /// Whether another element follows, after an opening bracket or an element. Consumes the separator or `close`.
    pub fn more(&mut self, first: &mut bool, close: u8) -> Outcome<bool> {
        let is_first = std::mem::replace(first, false);
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            Some(b',') if !is_first => {
                self.at += 1;
                if self.peek() == Some(close) {
                    return self.fail("expected a JSON value after the comma");
                }
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            Some(_) => self.fail("expected a comma or a closing bracket"),
            None => self.fail("unexpected end of JSON input"),
        }
    }

    /// Reads a property name and the colon after it.
    pub fn key(&mut self) -> Outcome<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return self.fail("expected a quoted property name");
        }
        self.at += 1;
        let key = self.string()?;
        if self.peek() != Some(b':') {
            return self.fail("expected a colon after the property name");
        }
        self.at += 1;
        Ok(key)
    }

    /// Checks that only whitespace follows.
    pub fn end(&mut self) -> Outcome<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("unexpected characters after the JSON value"),
        }
    }

    /// Skips a value and returns its text.
    pub fn raw(&mut self) -> Outcome<&'a str> {
        self.peek();
        let start = self.at;
        self.skip()?;
        Ok(&self.text[start..self.at])
    }

    fn skip(&mut self) -> Outcome<()> {
        match self.token()? {
            Token::Array => {
                let mut first = true;
                while self.more(&mut first, b']')? {
                    self.skip()?;
                }
            }
            Token::Object => {
                let mut first = true;
                while self.more(&mut first, b'}')? {
                    self.key()?;
                    self.skip()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn number(&mut self) -> Outcome<&'a str> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let digits = |mut at: usize| {
            let from = at;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            (at, at > from)
        };
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let leading_zero = bytes.get(at) == Some(&b'0');
        let (end, some) = digits(at);
        if !some || (leading_zero && end > at + 1) {
            return self.fail("invalid JSON number");
        }
        at = end;
        if bytes.get(at) == Some(&b'.') {
            let (end, some) = digits(at + 1);
            if !some {
                return self.fail("invalid JSON number");
            }
            at = end;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let (end, some) = digits(at + 1 + sign);
            if !some {
                return self.fail("invalid JSON number");
            }
            at = end;
        }
        self.at = at;
        Ok(&self.text[start..at])
    }

    /// Reads a string after its opening quote; borrowed unless it has escapes.
    fn string(&mut self) -> Outcome<Cow<'a, str>> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let plain = |from: usize| {
            let rest = &bytes[from..];
            from + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len())
        };
        let mut at = plain(start);
        if bytes.get(at) == Some(&b'"') {
            self.at = at + 1;
            return Ok(Cow::Borrowed(&self.text[start..at]));
        }
        let mut out = String::with_capacity(at - start + 16);
        let mut from = start;
        loop {
            out.push_str(&self.text[from..at]);
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(Cow::Owned(out));
                }
                Some(b'\\') => from = self.escape(at + 1, &mut out)?,
                Some(_) => {
                    self.at = at;
                    return self.fail("control characters must be escaped in a JSON string");
                }
                None => {
                    self.at = at;
                    return self.fail("unterminated JSON string");
                }
            }
            at = plain(from);
        }
    }

    /// Reads an escape sequence after its backslash. Returns the offset after it.
    fn escape(&mut self, at: usize, out: &mut String) -> Outcome<usize> {
        let character = match self.text.as_bytes().get(at) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(at + 1, out),
            _ => {
                self.at = at;
                return self.fail("invalid escape sequence in a JSON string");
            }
        };
        out.push(character);
        Ok(at + 1)
    }

    /// Reads the four digits of a `\u` escape, and the low surrogate after a high one. Unpaired surrogates become
    /// U+FFFD, as in Go.
    fn unicode_escape(&mut self, at: usize, out: &mut String) -> Outcome<usize> {
        let Some(unit) = self.hexadecimal(at) else {
            self.at = at;
            return self.fail("expected four hexadecimal digits after \\u");
        };
        let next = at + 4;
        if let Some(character) = char::from_u32(unit) {
            out.push(character);
            return Ok(next);
        }
        let bytes = self.text.as_bytes();
        if (0xd800..0xdc00).contains(&unit)
            && bytes.get(next) == Some(&b'\\')
            && bytes.get(next + 1) == Some(&b'u')
            && let Some(low) = self.hexadecimal(next + 2)
            && (0xdc00..0xe000).contains(&low)
        {
            let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            return Ok(next + 6);
        }
        out.push(char::REPLACEMENT_CHARACTER);
        Ok(next)
    }

    fn hexadecimal(&self, at: usize) -> Option<u32> {
        let digits = self.text.as_bytes().get(at..at + 4)?;
        digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
    }
}
