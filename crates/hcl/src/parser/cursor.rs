//! The token cursor of the parser.

use groma_diagnostics::Span;

use super::{Expected, Newlines, Parser};
use crate::ast::{Ident, Name};
use crate::token::{Token, TokenKind};

impl<'a> Parser<'a> {
    /// Moves the cursor to the next significant token.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.at = self.after;
        self.next = self.tokens.at(self.at);
        // `Comment` and `Newline` are the lowest kinds of tokens, so one comparison rules both out.
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

    /// Consumes and returns the next token. At the end it returns the end token repeatedly.
    pub(super) fn bump(&mut self) -> Token {
        let read = self.next;
        if read.kind != TokenKind::End {
            self.after = self.at + 1;
            self.settle();
        }
        read
    }

    /// The kind of the first token after `index` that is not a comment.
    pub(super) fn kind_after(&self, index: usize) -> TokenKind {
        let kinds = (index + 1..).map(|index| self.tokens.kind(index));
        let mut kinds = kinds.skip_while(|kind| *kind == TokenKind::Comment);
        kinds.next().unwrap_or(TokenKind::End)
    }

    /// Consumes the next token if it is of `kind`.
    pub(super) fn accept(&mut self, kind: TokenKind) -> Option<Token> {
        (self.kind() == kind).then(|| self.bump())
    }

    /// Whether the next token is the identifier `word`.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.kind() == TokenKind::Identifier && self.text_of(self.next) == word
    }

    /// Runs `parse` with line ends significant or ignored.
    pub(super) fn with_newlines<T>(&mut self, newlines: Newlines, parse: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.newlines, newlines);
        // The next token may be a line end, which only one of the two modes skips.
        self.settle();
        let result = parse(self);
        self.newlines = outer;
        self.settle();
        result
    }

    /// Runs `parse` for the content of a bracket. The opening bracket was consumed last, and `closer` must close it.
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

    /// The text of a token.
    pub(super) fn text_of(&self, token: Token) -> &'a str {
        self.text.get(token.range()).unwrap_or_default()
    }

    /// The text of a token as bytes.
    pub(super) fn bytes_of(&self, token: Token) -> &'a [u8] {
        self.text.as_bytes().get(token.range()).unwrap_or_default()
    }

    /// The source span of a token; empty for the end of the text.
    #[inline]
    pub(super) fn span(&self, token: Token) -> Span {
        self.origin.span(token.start, token.end)
    }

    /// The source span of the token at an index.
    pub(super) fn span_at(&self, index: usize) -> Span {
        self.span(self.tokens.at(index))
    }

    /// The source span of the next token.
    #[inline]
    pub(super) fn next_span(&self) -> Span {
        self.span(self.next)
    }

    /// The source span of the last consumed token.
    pub(super) fn last_span(&self) -> Span {
        match self.after.checked_sub(1) {
            Some(index) => self.span_at(index),
            None => self.next_span(),
        }
    }

    /// The source span of a byte range.
    pub(super) fn bytes_span(&self, start: usize, end: usize) -> Span {
        self.origin.span(start as u32, end as u32)
    }

    /// The text of a token as a shared name.
    pub(super) fn name_of(&mut self, token: Token) -> Name {
        self.names.share(self.text, token.range())
    }

    /// The token as an identifier.
    pub(super) fn ident_of(&mut self, token: Token) -> Ident {
        Ident { name: self.name_of(token), span: self.span(token) }
    }
}
