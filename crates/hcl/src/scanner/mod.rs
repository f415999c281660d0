//! The scanner: converts text to tokens in one pass. This file is about code; `texts` is about quotes, heredocs and templates.
//!
//! Strings and heredocs hold interpolations, which hold expressions, which hold strings: the scanner keeps a stack of
//! what it is in. It never fails; what the language does not know becomes a token of its own kind.

mod names;
mod portions;
mod texts;

use groma_diagnostics::{begins_name, continues_name};

use crate::token::{Token, TokenKind, Tokens};
pub use names::is_identifier;
pub(crate) use names::looks_like_an_item;
use names::{NAME, identifier_length, run};
pub(crate) use portions::{Portions, parts, portions};

/// Splits a text of the native syntax into tokens.
pub fn tokenize(text: &str) -> Tokens {
    Scanner::new(text, Mode::Code { depth: 0 }).run()
}

/// Splits a template that stands alone, without quotes, into tokens.
pub(crate) fn tokenize_template(text: &str) -> Tokens {
    Scanner::new(text, Mode::Bare).run()
}

/// The condition under which a portion may end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    AtLineEnd,
    BeforeEmptyLine,
}

/// The state of the scanner.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// Arguments, blocks and expressions; `depth` counts the braces open since an interpolation began.
    Code { depth: u32 },
    /// Inside a quoted string.
    Quoted,
    /// A quoted string that goes on for more than a line, which is an error, up to the byte `until`.
    QuotedLines { until: usize },
    /// A heredoc that ends with a line of nothing but the text from `start` to `end`.
    Heredoc { start: usize, end: usize, at_line_start: bool },
    /// A template without quotes.
    Bare,
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
    mode: Mode,
    outer: Vec<Mode>,
    /// Set when no comment ends after this place, so that the rest is not searched again and again.
    no_comment_end: bool,
    /// Number of open brackets and parentheses.
    brackets: usize,
    /// After how many tokens a portion may end.
    enough: usize,
    pause: Pause,
    paused: bool,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, mode: Mode) -> Self {
        // An address space of u32 is checked where texts are registered; a larger text is cut here.
        let limit = u32::MAX as usize - 1;
        let text = if text.len() > limit { &text[..text.floor_char_boundary(limit)] } else { text };
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            tokens: Vec::new(),
            mode,
            outer: Vec::new(),
            no_comment_end: false,
            brackets: 0,
            enough: usize::MAX,
            pause: Pause::AtLineEnd,
            paused: false,
        }
    }

    fn run(mut self) -> Tokens {
        self.tokens.reserve(self.bytes.len() / 4 + 8);
        self.portion()
    }

    fn portion(&mut self) -> Tokens {
        self.paused = false;
        if self.at == 0 && self.text.starts_with('\u{feff}') {
            self.at = 3;
        }
        while self.at < self.bytes.len() && !self.paused {
            match self.mode {
                Mode::Code { depth } => self.code(depth),
                Mode::Quoted => self.quoted(),
                Mode::QuotedLines { until } => self.quoted_lines(until),
                Mode::Heredoc { start, end, at_line_start } => self.heredoc(start, end, at_line_start),
                Mode::Bare => self.bare(),
            }
        }
        self.emit(TokenKind::End, 0);
        Tokens { list: std::mem::take(&mut self.tokens) }
    }

    /// A token of `length` bytes from here.
    fn emit(&mut self, kind: TokenKind, length: usize) {
        let start = self.at as u32;
        self.at += length;
        self.tokens.push(Token { start, end: self.at as u32, kind });
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn enter(&mut self, mode: Mode) {
        self.outer.push(self.mode);
        self.mode = mode;
    }

    fn leave(&mut self) {
        if let Some(outer) = self.outer.pop() {
            self.mode = outer;
        }
    }

    /// Tokens of code until the mode changes.
    fn code(&mut self, mut depth: u32) {
        use TokenKind as T;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' => {
                    self.at += 1;
                    while self.bytes.get(self.at) == Some(&b' ') {
                        self.at += 1;
                    }
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.name(),
                b'0'..=b'9' => self.number(),
                b'\n' => {
                    self.emit(T::Newline, 1);
                    if self.tokens.len() >= self.enough && depth == 0 && self.may_pause() {
                        self.paused = true;
                        break;
                    }
                }
                b'\r' if self.peek(1) == b'\n' => self.emit(T::Newline, 2),
                b'"' => {
                    self.emit(T::OpenQuote, 1);
                    self.mode = Mode::Code { depth };
                    self.enter(Mode::Quoted);
                    return;
                }
                b'#' => self.line_comment(),
                b'/' => match self.peek(1) {
                    b'/' => self.line_comment(),
                    b'*' => self.block_comment(),
                    _ => self.emit(T::Slash, 1),
                },
                b'{' => {
                    self.emit(T::OpenBrace, 1);
                    depth += 1;
                }
                b'}' => {
                    if depth == 0 && !self.outer.is_empty() {
                        self.emit(T::CloseSequence, 1);
                        self.leave();
                        return;
                    }
                    self.emit(T::CloseBrace, 1);
                    depth = depth.saturating_sub(1);
                }
                b'~' if self.peek(1) == b'}' => {
                    if depth == 0 && !self.outer.is_empty() {
                        self.emit(T::CloseSequence, 2);
                        self.leave();
                        return;
                    }
                    self.emit(T::StripBrace, 2);
                    depth = depth.saturating_sub(1);
                }
                b'<' => {
                    if let Some((start, end, length)) = self.heredoc_introducer() {
                        self.emit(T::OpenHeredoc, length);
                        self.mode = Mode::Code { depth };
                        self.enter(Mode::Heredoc { start, end, at_line_start: true });
                        return;
                    }
                    self.either(b'=', T::LessEqual, T::Less);
                }
                b'[' => self.open(T::OpenBracket),
                b']' => self.close(T::CloseBracket),
                b'(' => self.open(T::OpenParenthesis),
                b')' => self.close(T::CloseParenthesis),
                b',' => self.emit(T::Comma, 1),
                b'.' if self.bytes[self.at..].starts_with(b"...") => self.emit(T::Ellipsis, 3),
                b'.' => self.emit(T::Dot, 1),
                b'=' if self.peek(1) == b'>' => self.emit(T::FatArrow, 2),
                b'=' => self.either(b'=', T::EqualEqual, T::Equal),
                b'!' => self.either(b'=', T::NotEqual, T::Bang),
                b'>' => self.either(b'=', T::GreaterEqual, T::Greater),
                b'&' => self.either(b'&', T::And, T::Ampersand),
                b'|' => self.either(b'|', T::Or, T::Pipe),
                b':' => self.either(b':', T::DoubleColon, T::Colon),
                b'*' => self.emit(T::Star, 1),
                b'+' => self.emit(T::Plus, 1),
                b'-' => self.emit(T::Minus, 1),
                b'%' => self.emit(T::Percent, 1),
                b'?' => self.emit(T::Question, 1),
                b'^' => self.emit(T::Caret, 1),
                b'~' => self.emit(T::Tilde, 1),
                b';' => self.emit(T::Semicolon, 1),
                b'`' => self.emit(T::Backtick, 1),
                b'\'' => self.emit(T::Apostrophe, 1),
                _ => self.other_character(),
            }
        }
        self.mode = Mode::Code { depth };
    }

    /// Whether a portion may end after the line end before this place.
    fn may_pause(&self) -> bool {
        let is_empty_line = || matches!(self.bytes[self.at..], [b'\n', ..] | [b'\r', b'\n', ..]);
        self.brackets == 0 && self.outer.is_empty() && (self.pause == Pause::AtLineEnd || is_empty_line())
    }

    fn open(&mut self, kind: TokenKind) {
        self.emit(kind, 1);
        self.brackets += 1;
    }

    fn close(&mut self, kind: TokenKind) {
        self.emit(kind, 1);
        self.brackets = self.brackets.saturating_sub(1);
    }

    /// The operator of two characters if `second` follows, else the one of one character.
    fn either(&mut self, second: u8, two: TokenKind, one: TokenKind) {
        if self.peek(1) == second { self.emit(two, 2) } else { self.emit(one, 1) }
    }

    /// A character beyond ASCII, or one that the language does not use.
    fn other_character(&mut self) {
        let Some(character) = self.text[self.at..].chars().next() else { return };
        if begins_name(character) {
            let length = self.length_of_name(character.len_utf8());
            self.emit(TokenKind::Identifier, length);
        } else {
            self.emit(TokenKind::Invalid, character.len_utf8());
        }
    }

    /// A name that begins with a letter of ASCII.
    fn name(&mut self) {
        let mut length = run(&self.bytes[self.at..], NAME);
        if !self.peek(length).is_ascii() {
            length = self.length_of_name(length);
        }
        self.emit(TokenKind::Identifier, length);
    }

    /// The length of a name with characters beyond ASCII, of which `length` bytes are known.
    #[cold]
    fn length_of_name(&self, mut length: usize) -> usize {
        while let Some(character) = self.text[self.at + length..].chars().next().filter(|next| continues_name(*next)) {
            length += character.len_utf8();
        }
        length
    }

    /// Digits, dots and exponents, but never a dot at the end. Whether they make sense is the parser's question.
    fn number(&mut self) {
        let mut end = self.at + 1;
        let mut length = 1;
        while let Some(byte) = self.bytes.get(end) {
            match byte {
                b'0'..=b'9' => {
                    end += 1;
                    length = end - self.at;
                }
                b'.' => end += 1,
                b'e' | b'E' => {
                    let sign = usize::from(matches!(self.bytes.get(end + 1), Some(b'+' | b'-')));
                    if !self.bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
                        break;
                    }
                    end += 2 + sign;
                    length = end - self.at;
                }
                _ => break,
            }
        }
        self.emit(TokenKind::Number, length);
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        // The line end is a token of its own, with its carriage return.
        let length = if length < rest.len() && rest[length - 1] == b'\r' { length - 1 } else { length };
        self.emit(TokenKind::Comment, length);
    }

    /// A comment in `/* */`; one that is never closed is no comment but a slash and a star.
    fn block_comment(&mut self) {
        let length = if self.no_comment_end { None } else { self.text[self.at + 2..].find("*/") };
        match length {
            Some(length) => self.emit(TokenKind::Comment, length + 4),
            None => {
                self.no_comment_end = true;
                self.emit(TokenKind::Slash, 1);
                self.emit(TokenKind::Star, 1);
            }
        }
    }

    /// The place of the marker and the length of the introducer, if a heredoc begins here.
    fn heredoc_introducer(&self) -> Option<(usize, usize, usize)> {
        let rest = self.text[self.at..].strip_prefix("<<")?;
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        let length = identifier_length(rest);
        let line_end = match &rest.as_bytes()[length..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return None,
        };
        let start = self.text.len() - rest.len();
        (length > 0).then_some((start, start + length, start + length + line_end - self.at))
    }
}
