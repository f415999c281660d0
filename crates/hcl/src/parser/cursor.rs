//! Walking over the tokens.

use groma_diagnostics::Span;

use super::{Expected, Newlines, Parser};
use crate::ast::{Ident, Name};
use crate::token::{Token, TokenKind};

impl<'a> Parser<'a> {
    /// Moves on to the next token that means something.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.at = self.after;
        self.next = self.tokens.at(self.at);
        // Comments and line ends are the first kinds; spaces are no tokens.
        if self.kind() <= TokenKind::Newline {
            self.pass_over();
        }
    }

    fn pass_over(&mut self) {
        let last = match self.newlines {
            Newlines::Significant => TokenKind::Comment,
            Newlines::Ignored => TokenKind::Newline,
        };
        while self.kind() <= last {
            self.at += 1;
            self.next = self.tokens.at(self.at);
        }
    }

    /// Reads the next token. The end is read again and again.
    pub(super) fn bump(&mut self) -> Token {
        let read = self.next;
        if read.kind != TokenKind::End {
            self.after = self.at + 1;
            self.settle();
        }
        read
    }

    /// The kind of the token after `index`, apart from comments.
    pub(super) fn kind_after(&self, index: usize) -> TokenKind {
        let kinds = (index + 1..).map(|index| self.tokens.kind(index));
        let mut kinds = kinds.skip_while(|kind| *kind == TokenKind::Comment);
        kinds.next().unwrap_or(TokenKind::End)
    }

    /// Reads the next token if it is of `kind`.
    pub(super) fn accept(&mut self, kind: TokenKind) -> Option<Token> {
        (self.kind() == kind).then(|| self.bump())
    }

    /// Whether the next token is the name `word`.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.kind() == TokenKind::Identifier && self.text_of(self.next) == word
    }

    /// Runs `parse` with another meaning of line ends.
    pub(super) fn with_newlines<T>(&mut self, newlines: Newlines, parse: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.newlines, newlines);
        self.settle();
        let result = parse(self);
        self.newlines = around;
        self.settle();
        result
    }

    /// Runs `parse` for what stands between the token that was read last and `closer`, with a meaning of line ends.
    pub(super) fn bracketed<T>(
        &mut self,
        closer: TokenKind,
        newlines: Newlines,
        parse: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.expected.push(Expected { closer, open: self.after.saturating_sub(1) });
        let result = self.with_newlines(newlines, parse);
        self.expected.pop();
        result
    }

    /// The characters of a token.
    pub(super) fn text_of(&self, token: Token) -> &'a str {
        self.text.get(token.range()).unwrap_or_default()
    }

    /// The bytes of a token.
    pub(super) fn bytes_of(&self, token: Token) -> &'a [u8] {
        self.text.as_bytes().get(token.range()).unwrap_or_default()
    }

    /// The place of a token; the end of the text counts as the empty span there.
    #[inline]
    pub(super) fn span(&self, token: Token) -> Span {
        self.origin.span(token.start, token.end)
    }

    /// The place of the token with an index.
    pub(super) fn span_at(&self, index: usize) -> Span {
        self.span(self.tokens.at(index))
    }

    /// The place of the token to be read next.
    #[inline]
    pub(super) fn next_span(&self) -> Span {
        self.span(self.next)
    }

    /// The place of the token that was read last.
    pub(super) fn last_span(&self) -> Span {
        match self.after.checked_sub(1) {
            Some(index) => self.span_at(index),
            None => self.next_span(),
        }
    }

    /// The span of bytes of the text.
    pub(super) fn bytes_span(&self, start: usize, end: usize) -> Span {
        self.origin.span(start as u32, end as u32)
    }

    /// The characters of a token, shared.
    pub(super) fn name_of(&mut self, token: Token) -> Name {
        self.names.share(self.text, token.range())
    }

    /// A token as a name.
    pub(super) fn ident_of(&mut self, token: Token) -> Ident {
        Ident { name: self.name_of(token), span: self.span(token) }
    }
}
