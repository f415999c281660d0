//! Finding a place to go on from after something that could not be understood.

use super::Parser;
use crate::scanner;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Skips over the next `closer` that belongs to no bracket opened on the way; true if there is one.
    ///
    /// If there is none in the whole rest of the text, it was forgotten: then nothing is skipped but the rest of the
    /// line, so that what follows is understood again.
    pub(super) fn skip_over(&mut self, closer: TokenKind) -> bool {
        self.recovering = true;
        if self.rewound_to == Some(self.after) {
            return false;
        }
        let mut open = 0usize;
        let mut index = self.at;
        loop {
            let kind = self.tokens.kind(index);
            if kind == TokenKind::End {
                self.rewind();
                return false;
            }
            if kind.closer() == Some(closer) {
                open += 1;
            } else if kind == closer {
                if open == 0 {
                    self.nesting_lost |= self.crosses_line(self.at, index);
                    self.go_to(index + 1);
                    return true;
                }
                open -= 1;
            }
            index += 1;
        }
    }

    /// Skips the rest of an argument or block: up to and over a line end outside of all brackets.
    ///
    /// When that place is found with all brackets matched, what follows counts as something new.
    pub(super) fn skip_item(&mut self) {
        self.recovering = true;
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
                        self.accept(TokenKind::Newline);
                        self.recovering = false;
                    } else {
                        self.go_to(index);
                    }
                    return;
                }
                TokenKind::Newline if open.is_empty() => break,
                TokenKind::BrokenQuote => {
                    open.pop_if(|last| *last == TokenKind::CloseQuote);
                }
                _ => {
                    if let Some(closer) = kind.closer() {
                        open.push(closer);
                    } else if kind.closes() {
                        while open.pop_if(|last| *last != kind).is_some() {
                            matched = false;
                        }
                        matched &= open.pop().is_some();
                    }
                }
            }
            index += 1;
        }
        self.nesting_lost |= !matched;
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

    /// Takes the text from the first line end after the token `open` for code again, if that line end lies before this
    /// place: the string that holds `open` was not closed on its line, and everything behind it has been misread.
    pub(super) fn rescan_after_line_of(&mut self, open: usize) -> bool {
        let line_end = (open..=self.at).find(|index| self.tokens.kind(*index) == TokenKind::Newline);
        let (Some(line_end), Some(left)) = (line_end, self.rewinds_left.checked_sub(1)) else { return false };
        self.rewinds_left = left;
        let offset = self.tokens.start(line_end);
        let rest = self.text.get(offset as usize..).unwrap_or_default();
        let rescanned = scanner::tokenize(rest);
        self.tokens.list.truncate(line_end);
        self.tokens.list.extend(rescanned.list.into_iter().map(|mut token| {
            token.start += offset;
            token
        }));
        self.recovering = true;
        self.rewound_to = Some(line_end);
        self.go_to(line_end);
        true
    }

    fn go_to(&mut self, index: usize) {
        self.after = index;
        self.settle();
    }

    fn crosses_line(&self, from: usize, to: usize) -> bool {
        (from..to).any(|index| self.tokens.kind(index) == TokenKind::Newline)
    }
}
