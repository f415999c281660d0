//! Strings that hold no sequences, such as labels.

use groma_diagnostics::{Diagnostic, Span};

use super::Parser;
use crate::ast::Name;
use crate::scanner::looks_like_an_item;
use crate::token::TokenKind;

impl<'a> Parser<'a> {
    /// A string that holds no sequences, such as a label.
    pub(super) fn quoted_literal(&mut self) -> (Name, Span) {
        if let Some(simple) = self.simple_string() {
            return simple;
        }
        let open = self.bump();
        let open = self.span(open);
        let mut text = String::new();
        loop {
            let token = self.at;
            match self.kind() {
                TokenKind::QuotedText | TokenKind::EscapedText => {
                    let part = self.bump();
                    text.push_str(&self.unescaped(part));
                }
                TokenKind::CloseQuote => {
                    self.bump();
                    break;
                }
                TokenKind::OpenInterpolation | TokenKind::OpenDirective => {
                    let was_recovering = self.recovering;
                    self.sequence_in_literal(token);
                    let ends_below = self.ends_below(token);
                    let rest = if ends_below { None } else { self.rest_of_broken_line(token) };
                    if let Some(rest) = rest {
                        text.push_str(rest);
                        break;
                    }
                    text.push_str("${…}");
                    self.bump();
                    let was_lost = self.nesting_lost;
                    if !self.skip_over(TokenKind::CloseSequence) {
                        break;
                    }
                    self.recovering = was_recovering;
                    self.nesting_lost = was_lost || (self.nesting_lost && !ends_below);
                }
                _ => {
                    let found = self.next_span();
                    let found = Span::new(found.start(), found.start() + 1);
                    let detail = "The string is not closed on its line. Put a quote at its end.";
                    let diagnostic = Diagnostic::error("Unterminated string literal", detail);
                    self.syntax_error(diagnostic.at(found).within(open.to(found)));
                    // The brace that opens the block is probably in the string.
                    self.nesting_lost = true;
                    self.accept(TokenKind::BrokenQuote);
                    break;
                }
            }
        }
        (self.names.share_text(&text), open.to(self.last_span()))
    }

    /// Whether the sequence that `open` begins ends some lines further down, and the label around it right after: then it was meant to.
    fn ends_below(&self, open: usize) -> bool {
        const LINES: usize = 40;
        let (mut depth, mut lines, mut close) = (0, 0, open);
        loop {
            match self.tokens.kind(close) {
                TokenKind::OpenInterpolation | TokenKind::OpenDirective => depth += 1,
                TokenKind::CloseSequence if depth == 1 => break,
                TokenKind::CloseSequence => depth -= 1,
                TokenKind::Newline if lines < LINES => lines += 1,
                TokenKind::Newline | TokenKind::End => return false,
                _ => {}
            }
            close += 1;
        }
        let quote = if self.tokens.kind(close + 1).is_quoted_text() { close + 2 } else { close + 1 };
        let after = self.tokens.kind(quote + 1);
        let is_header = matches!(after, TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier);
        if lines == 0 || self.tokens.kind(quote) != TokenKind::CloseQuote || !is_header {
            return false;
        }
        let (start, end) = (self.tokens.end(open) as usize, self.tokens.start(close) as usize);
        let mut between = self.text.get(start..end).unwrap_or_default().split('\n').skip(1).take(lines - 1);
        !between.any(|line| looks_like_an_item(line.as_bytes()))
    }

    /// Skips to the end of the line if the sequence that `open` starts does not end on it, and returns the skipped text: the string was
    /// not meant to reach further.
    fn rest_of_broken_line(&mut self, open: usize) -> Option<&'a str> {
        let start = self.tokens.start(open) as usize;
        let kinds = (open + 1..self.tokens.len()).map(|index| self.tokens.kind(index));
        let ends = kinds.take_while(|kind| *kind != TokenKind::Newline).any(|kind| kind == TokenKind::CloseSequence);
        if ends || !self.rescan_after_line_of(open) {
            return None;
        }
        self.text.get(start..self.tokens.start(self.at) as usize)
    }

    fn sequence_in_literal(&mut self, token: usize) {
        let sign = if self.tokens.kind(token) == TokenKind::OpenDirective { '%' } else { '$' };
        let detail = format!(
            "No expressions can stand in this string. If \"{sign}{{\" is meant as it is, write \"{sign}{sign}{{\"."
        );
        self.syntax_error(Diagnostic::error("Invalid string literal", detail).at(self.span_at(token)));
    }
}
