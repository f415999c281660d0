//! Reading JSON text token by token.

use crate::codec::{Failure, Outcome};
use crate::types::MAX_DEPTH;
use std::borrow::Cow;

/// JSON bytes as text; what is no UTF-8 becomes U+FFFD.
pub(super) fn text(json: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(json) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(json),
    }
}

/// A place in JSON text.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    deepest: usize,
}

/// The token that starts at a position.
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

    /// A scanner that lets brackets nest this deep.
    pub fn with_depth(text: &'a str, deepest: usize) -> Self {
        Scanner { text, at: 0, depth: 0, deepest }
    }

    /// A scanner for a part of the text that `outer` has read over, as deep as that is.
    pub fn nested(text: &'a str, outer: &Scanner<'_>) -> Self {
        Scanner { text, at: 0, depth: outer.depth + 1, deepest: outer.deepest }
    }

    /// Returns the offset of the scanner in bytes.
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

    /// Reads the start of a value; of an array or object only the bracket.
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
            Some(_) => self.fail("a JSON value is required"),
            None => self.fail("the JSON text ends too early"),
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
            self.fail("a JSON value is required")
        }
    }

    /// After an opening bracket or an element: whether another element follows. `close` ends the aggregate.
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
                    return self.fail("a JSON value is required after the comma");
                }
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            Some(_) => self.fail("a comma or the closing bracket is required"),
            None => self.fail("the JSON text ends too early"),
        }
    }

    /// Reads the name of an object's member and the colon.
    pub fn key(&mut self) -> Outcome<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return self.fail("the name of a member is required");
        }
        self.at += 1;
        let key = self.string()?;
        if self.peek() != Some(b':') {
            return self.fail("a colon is required after the name of a member");
        }
        self.at += 1;
        Ok(key)
    }

    /// Checks that nothing follows.
    pub fn end(&mut self) -> Outcome<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("there is more text after the JSON value"),
        }
    }

    /// Reads over a value and gives its text.
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
            return self.fail("this is no JSON number");
        }
        at = end;
        if bytes.get(at) == Some(&b'.') {
            let (end, some) = digits(at + 1);
            if !some {
                return self.fail("this is no JSON number");
            }
            at = end;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let (end, some) = digits(at + 1 + sign);
            if !some {
                return self.fail("this is no JSON number");
            }
            at = end;
        }
        self.at = at;
        Ok(&self.text[start..at])
    }

    /// Reads a string after its opening quote.
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
                    return self.fail("a control character must be escaped inside a JSON string");
                }
                None => {
                    self.at = at;
                    return self.fail("the JSON text ends inside a string");
                }
            }
            at = plain(from);
        }
    }

    /// Reads an escape after its backslash; gives the place after it.
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
                return self.fail("this is no escape of JSON");
            }
        };
        out.push(character);
        Ok(at + 1)
    }

    /// Reads four hexadecimal digits, and the second half of a pair; halves without the other become U+FFFD.
    fn unicode_escape(&mut self, at: usize, out: &mut String) -> Outcome<usize> {
        let Some(unit) = self.hexadecimal(at) else {
            self.at = at;
            return self.fail("four hexadecimal digits are required after \\u");
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
