//! Scanning of text with template sequences: quoted strings, heredocs and unquoted templates.

use super::names::{QUOTED_PLAIN, TEMPLATE_PLAIN, run};
use super::{Mode, Scanner, looks_like_an_item};
use crate::token::TokenKind;

impl Scanner<'_> {
    /// Scans `${` or `%{` with an optional strip marker. The doubled forms are literal text.
    fn sequence(&mut self) -> bool {
        let kind = match (self.peek(0), self.peek(1)) {
            (b'$', b'{') => TokenKind::OpenInterpolation,
            (b'%', b'{') => TokenKind::OpenDirective,
            _ => return false,
        };
        let length = if self.peek(2) == b'~' { 3 } else { 2 };
        self.emit(kind, length);
        self.enter(Mode::Code { depth: 0 });
        true
    }

    /// Returns the length of the literal that begins with the `$` or `%` at `end`, or `None` if a sequence begins
    /// there.
    fn literal_sign(&self, end: usize) -> Option<usize> {
        let sign = self.bytes[end];
        if self.bytes.get(end + 1) == Some(&b'{') {
            return None;
        }
        let doubled = self.bytes.get(end + 1) == Some(&sign) && self.bytes.get(end + 2) == Some(&b'{');
        Some(if doubled { 3 } else { 1 })
    }

    pub(super) fn quoted(&mut self) {
        self.quoted_run(self.bytes.len());
        match self.bytes.get(self.at) {
            Some(b'"') => {
                self.emit(TokenKind::CloseQuote, 1);
                self.leave();
            }
            // A lone carriage return does not end the line, but is not allowed in a string either.
            Some(b'\r') if self.peek(1) != b'\n' => self.emit(TokenKind::QuotedNewline, 1),
            Some(b'\n' | b'\r') => match self.closing_line() {
                Some(until) => self.mode = Mode::QuotedLines { until },
                None => {
                    self.emit(TokenKind::BrokenQuote, 0);
                    self.leave();
                }
            },
            Some(_) => {
                self.sequence();
            }
            None => {}
        }
    }

    /// Scans plain text up to a sequence, the end of the string or the end of the line.
    fn quoted_run(&mut self, limit: usize) {
        let mut end = self.at;
        let mut kind = TokenKind::QuotedText;
        while let Some(rest) = self.bytes.get(end..limit) {
            end += run(rest, QUOTED_PLAIN);
            let Some(byte) = self.bytes[..limit].get(end) else { break };
            match byte {
                b'\\' => {
                    end += 1;
                    // A backslash escapes any following character, except a line end.
                    match self.text[end..].chars().next() {
                        Some('\n' | '\r') | None => {}
                        Some(character) => end += character.len_utf8(),
                    }
                }
                b'$' | b'%' => match self.literal_sign(end) {
                    Some(length) => end += length,
                    None => break,
                },
                _ => break,
            }
            kind = TokenKind::EscapedText;
        }
        if end > self.at {
            self.emit(kind, end.min(self.bytes.len()) - self.at);
        }
    }

    /// Returns the offset of the closing quote of a string that is not closed on its line, if the author probably meant
    /// it to span lines.
    ///
    /// A missing quote must not turn the rest of the file into a string. So only lines count that do not look like
    /// arguments or blocks, up to the first line with an odd number of quotes.
    fn closing_line(&self) -> Option<usize> {
        // Every unclosed quote searches ahead, so the limits keep the time for damaged files linear.
        const LINES: usize = 40;
        const BYTES: usize = 4096;
        let mut start = self.at + self.bytes[self.at..].iter().position(|byte| *byte == b'\n')? + 1;
        let limit = (start + BYTES).min(self.bytes.len());
        for _ in 0..LINES {
            if start >= limit {
                return None;
            }
            let rest = &self.bytes[start..limit];
            let end = start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let line = &self.bytes[start..end];
            if looks_like_an_item(line) {
                return None;
            }
            let mut quotes =
                line.iter().enumerate().filter(|(at, byte)| **byte == b'"' && (*at == 0 || line[at - 1] != b'\\'));
            if let Some((first, _)) = quotes.next() {
                return quotes.count().is_multiple_of(2).then_some(start + first);
            }
            start = end + 1;
        }
        None
    }

    pub(super) fn quoted_lines(&mut self, until: usize) {
        match self.bytes[self.at] {
            b'\n' => self.emit(TokenKind::QuotedNewline, 1),
            b'\r' if self.peek(1) == b'\n' => self.emit(TokenKind::QuotedNewline, 2),
            b'\r' => self.emit(TokenKind::QuotedText, 1),
            _ if self.at >= until => self.mode = Mode::Quoted,
            _ => {
                let start = self.at;
                self.quoted_run(until);
                if self.at == start && !self.sequence() {
                    self.mode = Mode::Quoted;
                }
            }
        }
    }

    pub(super) fn heredoc(&mut self, start: usize, end: usize, at_line_start: bool) {
        let rest = &self.bytes[self.at..];
        if at_line_start {
            let line_end = rest.iter().position(|byte| *byte == b'\n');
            if let Some(length) = line_end {
                let line = &self.text[self.at..self.at + length];
                // As in Terraform, an indented marker ends the heredoc even without `<<-`.
                if line.trim() == &self.text[start..end] {
                    let line = line.strip_suffix('\r').unwrap_or(line);
                    self.emit(TokenKind::CloseHeredoc, line.len());
                    self.leave();
                    return;
                }
            }
        }
        let line = self.template_run();
        let at_line_start = line > 0 && self.bytes[self.at + line - 1] == b'\n';
        self.mode = Mode::Heredoc { start, end, at_line_start };
        if line > 0 {
            self.emit(TokenKind::Text, line);
        } else {
            self.sequence();
        }
    }

    pub(super) fn bare(&mut self) {
        match self.template_run() {
            0 => {
                self.sequence();
            }
            length => self.emit(TokenKind::Text, length),
        }
    }

    /// Returns the length of plain text up to and including the line end.
    fn template_run(&self) -> usize {
        let mut end = self.at;
        loop {
            end += run(&self.bytes[end..], TEMPLATE_PLAIN);
            match self.bytes.get(end) {
                Some(b'\n') => return end + 1 - self.at,
                Some(_) => match self.literal_sign(end) {
                    Some(length) => end += length,
                    None => break,
                },
                None => break,
            }
        }
        end - self.at
    }
}
