//! Error recovery: finding the token to continue from.

use super::Parser;
use crate::scanner;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Skips to the next `closer` that matches no bracket opened on the way. Returns true if it was found.
    ///
    /// The search ends before a bracket that closes an outer level. If the rest of the text has no matching closer, it
    /// was probably forgotten; then only the rest of the line is skipped, so that the following items are parsed again.
    pub(super) fn skip_over(&mut self, closer: TokenKind) -> bool {
        self.recovering = true;
        // A search that failed has already moved back to here, so the closer is not ahead.
        if self.rewound_to == Some(self.after) {
            return false;
        }
        let mut open: Vec<TokenKind> = Vec::new();
        let mut index = self.at;
        let mut same_line = true;
        let opened_above = self.expected.last().is_some_and(|expected| self.crosses_line(expected.open, self.at));
        loop {
            let kind = self.tokens.kind(index);
            match kind {
                TokenKind::End => {
                    self.nesting_unknown |= closer == TokenKind::CloseBrace;
                    self.rewind();
                    return false;
                }
                TokenKind::Newline => same_line = false,
                _ => {}
            }
            if let Some(closer) = kind.closer() {
                open.push(closer);
            } else if kind.closes() && !close(&mut open, kind) {
                let kind = kind.as_closer();
                if kind == closer {
                    self.nesting_unknown |= self.crosses_line(self.at, index);
                    self.go_to(index + 1);
                    return true;
                }
                if same_line && opened_above {
                    // The closer is on a later line; this bracket is a remnant of the broken expression.
                    index += 1;
                    continue;
                }
                if self.expected.iter().any(|expected| expected.closer == kind) {
                    self.nesting_unknown |= kind == TokenKind::CloseBrace;
                    self.go_to(index);
                } else {
                    self.rewind();
                }
                return false;
            }
            index += 1;
        }
    }

    /// Skips the rest of an argument or block: up to and including a line end outside of all brackets.
    ///
    /// If all brackets on the way match, recovery ends and the next item is reported normally.
    pub(super) fn skip_item(&mut self) {
        self.recovering = true;
        self.after_problem = true;
        let mut open: Vec<TokenKind> = Vec::new();
        let mut index = self.after;
        let mut matched = true;
        loop {
            let kind = self.tokens.kind(index);
            match kind {
                TokenKind::End => {
                    // A bracket opened on the way is never closed. The next line is a better guess for the next item
                    // than the end of the text.
                    if !open.is_empty() && self.rewind() {
                        self.nesting_unknown = true;
                        self.accept(TokenKind::Newline);
                        self.recovering = false;
                    } else {
                        self.go_to(index);
                    }
                    return;
                }
                TokenKind::Newline if open.is_empty() => break,
                TokenKind::CloseBrace if open.is_empty() && self.blocks > 0 && self.is_last_of_line(index) => {
                    // The brace most likely ends the enclosing block.
                    self.nesting_unknown = true;
                    self.go_to(index);
                    self.recovering = false;
                    return;
                }
                _ => {
                    if let Some(closer) = kind.closer() {
                        open.push(closer);
                    } else if kind.closes() {
                        matched &= close(&mut open, kind);
                    }
                }
            }
            index += 1;
        }
        self.nesting_unknown |= !matched || self.crosses_line(self.after, index);
        self.go_to(index + 1);
        self.recovering = false;
    }

    /// Moves back to the end of the line of the last consumed token. Returns false if the rewind budget is exhausted.
    fn rewind(&mut self) -> bool {
        // Each rewind parses text again, so a budget bounds the time for damaged files.
        let Some(left) = self.rewinds_left.checked_sub(1) else {
            self.nesting_unknown = true;
            self.skip_to_end();
            return false;
        };
        self.rewinds_left = left;
        // Brackets opened on earlier lines are abandoned too, so their closing brackets will be unmatched.
        self.nesting_unknown |= self.expected.iter().any(|expected| self.crosses_line(expected.open, self.after));
        let mut index = self.after;
        while !matches!(self.tokens.kind(index), TokenKind::Newline | TokenKind::End) {
            index += 1;
        }
        self.rewound_to = Some(index);
        self.go_to(index);
        true
    }

    pub(super) fn skip_to_end(&mut self) {
        self.go_to(self.tokens.len() - 1);
        self.rewound_to = Some(self.after);
    }

    /// Rescans the text from the first line end after the token `open` as code. The string that contains `open` was not
    /// closed on its line, so everything after it was scanned in the wrong mode.
    pub(super) fn rescan_after_line_of(&mut self, open: usize) -> bool {
        let line_end = (open..self.tokens.len()).find(|index| self.tokens.kind(*index) == TokenKind::Newline);
        let line_end = line_end.or_else(|| self.stray_quote_line_end());
        line_end.is_some_and(|line_end| self.rescan(line_end, self.tokens.start(line_end) as usize))
    }

    /// The line end after a stray quote here: a quote that begins a string of several lines was probably meant to end
    /// one.
    pub(super) fn stray_quote_line_end(&self) -> Option<usize> {
        let (first, second) = (self.at + 1, self.at + 2);
        let is_line_end = |index: &usize| self.tokens.kind(*index) == TokenKind::QuotedNewline;
        let begins = self.tokens.kind(self.at) == TokenKind::OpenQuote;
        let second = self.tokens.kind(first).is_quoted_text().then_some(second);
        begins.then(|| [Some(first), second].into_iter().flatten().find(is_line_end)).flatten()
    }

    /// Rescans the text after the heredoc that contains the token `open` as code. An interpolation in it was not
    /// closed, so the end marker was scanned as part of the expression.
    pub(super) fn rescan_after_heredoc_of(&mut self, open: usize) -> bool {
        let kind = |index: &usize| self.tokens.kind(*index) == TokenKind::OpenHeredoc;
        let Some(heredoc) = (0..open).rev().find(kind) else { return false };
        let marker = self.text_of(self.tokens.at(heredoc)).trim_start_matches('<').trim_start_matches('-').trim();
        let start = self.tokens.end(open) as usize;
        let mut at = start;
        for line in self.text.get(start..).unwrap_or_default().split_inclusive('\n') {
            if line.trim() == marker && line.ends_with('\n') && at > start {
                let end = line.trim_end_matches(['\r', '\n']).len();
                return self.rescan(open + 1, at + end);
            }
            at += line.len();
        }
        false
    }

    /// Replaces the tokens from `index` on by scanning the text from `offset` on as code.
    fn rescan(&mut self, index: usize, offset: usize) -> bool {
        let Some(left) = self.rewinds_left.checked_sub(1) else { return false };
        self.rewinds_left = left;
        let rest = self.text.get(offset..).unwrap_or_default();
        let rescanned = scanner::tokenize(rest);
        self.tokens.list.truncate(index);
        self.tokens.list.extend(rescanned.list.into_iter().map(|mut token| {
            token.start += offset as u32;
            token.end += offset as u32;
            token
        }));
        self.recovering = true;
        self.go_to(index);
        true
    }

    pub(super) fn go_to(&mut self, index: usize) {
        self.after = index;
        self.settle();
    }

    fn crosses_line(&self, from: usize, to: usize) -> bool {
        (from..to).any(|index| self.tokens.kind(index) == TokenKind::Newline)
    }
}

/// Closes the innermost open bracket that `kind` closes, together with unclosed ones inside of it. Returns false if
/// there is none.
fn close(open: &mut Vec<TokenKind>, kind: TokenKind) -> bool {
    let kind = kind.as_closer();
    match open.iter().rposition(|closer| *closer == kind) {
        Some(at) => {
            open.truncate(at);
            true
        }
        None => kind == TokenKind::CloseQuote,
    }
}
