//! Finding a place to go on from after something that could not be understood.

use super::Parser;
use crate::scanner;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Skips over the next `closer` that belongs to no bracket opened on the way; true if there is one.
    ///
    /// A bracket that closes something further out ends the search before it. If there is nothing of the kind in the
    /// whole rest of the text, the closer was forgotten: then nothing is skipped but the rest of the line, so that what
    /// follows is understood again.
    pub(super) fn skip_over(&mut self, closer: TokenKind) -> bool {
        self.recovering = true;
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
                    self.nesting_lost |= closer == TokenKind::CloseBrace;
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
                    self.nesting_lost |= self.crosses_line(self.at, index);
                    self.go_to(index + 1);
                    return true;
                }
                if same_line && opened_above {
                    // The searched token is on a later line; this one is left from the problem.
                    index += 1;
                    continue;
                }
                if self.expected.iter().any(|expected| expected.closer == kind) {
                    self.nesting_lost |= kind == TokenKind::CloseBrace;
                    self.go_to(index);
                } else {
                    self.rewind();
                }
                return false;
            }
            index += 1;
        }
    }

    /// Skips the rest of an argument or block: up to and over a line end outside of all brackets.
    ///
    /// When that place is found with all brackets matched, what follows counts as something new.
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
                    // Something opened on the way is never closed. The line after the first skipped one is a better
                    // guess at where something new begins than the end of the text.
                    if !open.is_empty() && self.rewind() {
                        self.nesting_lost = true;
                        self.accept(TokenKind::Newline);
                        self.recovering = false;
                    } else {
                        self.go_to(index);
                    }
                    return;
                }
                TokenKind::Newline if open.is_empty() => break,
                TokenKind::CloseBrace if open.is_empty() && self.blocks > 0 && self.is_last_of_line(index) => {
                    // Most likely it ends the block.
                    self.nesting_lost = true;
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
        self.nesting_lost |= !matched || self.crosses_line(self.after, index);
        self.go_to(index + 1);
        self.recovering = false;
    }

    /// Goes back to the end of the line of the token that was read last; false if that has been done too often.
    fn rewind(&mut self) -> bool {
        let Some(left) = self.rewinds_left.checked_sub(1) else {
            self.nesting_lost = true;
            self.skip_to_end();
            return false;
        };
        self.rewinds_left = left;
        // Brackets opened on earlier lines are given up too; their ends, further down, will look like too many.
        self.nesting_lost |= self.expected.iter().any(|expected| self.crosses_line(expected.open, self.after));
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

    /// Takes the text from the first line end after the token `open` for code again: the string that holds `open` was not closed on
    /// its line, and everything behind it has been misread.
    pub(super) fn rescan_after_line_of(&mut self, open: usize) -> bool {
        let line_end = (open..self.tokens.len()).find(|index| self.tokens.kind(*index) == TokenKind::Newline);
        let line_end = line_end.or_else(|| self.stray_quote_line_end());
        line_end.is_some_and(|line_end| self.rescan(line_end, self.tokens.start(line_end) as usize))
    }

    /// Returns the end of the current line, if a quote on it starts a string that does not end there: it was meant to end one.
    pub(super) fn stray_quote_line_end(&self) -> Option<usize> {
        let (first, second) = (self.at + 1, self.at + 2);
        let is_line_end = |index: &usize| self.tokens.kind(*index) == TokenKind::QuotedNewline;
        let begins = self.tokens.kind(self.at) == TokenKind::OpenQuote;
        let second = self.tokens.kind(first).is_quoted_text().then_some(second);
        begins.then(|| [Some(first), second].into_iter().flatten().find(is_line_end)).flatten()
    }

    /// Takes the text after the heredoc that holds the token `open` for code again: an interpolation in it was not
    /// closed, and the end of the heredoc was read as a part of it.
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

    /// Scans the text from `offset` on as code, replacing the tokens from `index` on.
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

/// Closes the innermost open bracket that `kind` closes, and those inside of it that were forgotten; false if there is
/// none.
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
