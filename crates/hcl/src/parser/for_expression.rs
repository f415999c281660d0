//! `for` expressions.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Span};

use super::Parser;
use crate::ast::{Expression, ExpressionKind, For, Ident};
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// The `for` expression in the bracket `open`; the word `for` is next.
    pub(super) fn for_expression(&mut self, open: Token) -> Expression {
        let closer = open.kind.closer().unwrap_or(TokenKind::CloseBracket);
        let open = self.span(open);
        let parsed = self.for_parts(open, closer);
        if parsed.is_none() {
            self.skip_over(closer);
        }
        let close = self.last_span();
        let span = open.to(close);
        let Some(mut parts) = parsed else { return Expression::invalid(span) };
        parts.close = close;
        self.check_for(&parts, closer, span);
        Expression::new(ExpressionKind::For(Arc::new(parts)), span)
    }

    /// Everything up to and with the closing bracket, or nothing after a problem.
    fn for_parts(&mut self, open: Span, closer: TokenKind) -> Option<For> {
        self.bump();
        let (key, value) = self.for_variables(open)?;
        let collection = self.understood(Self::expression)?;
        if self.accept(TokenKind::Colon).is_none() {
            return self.for_error(open, "A colon must follow after the collection, and then the result of each step.");
        }
        let first = self.understood(Self::expression)?;
        let (key_expression, value_expression) = match self.accept(TokenKind::FatArrow) {
            Some(_) => (Some(first), self.understood(Self::expression)?),
            None => (None, first),
        };
        let grouping = self.accept(TokenKind::Ellipsis).map(|token| self.span(token));
        let condition = if self.at_word("if") {
            self.bump();
            Some(self.understood(Self::expression)?)
        } else {
            None
        };
        if self.accept(closer).is_none() {
            let _: Option<()> =
                self.for_error(open, "The \"for\" expression is complete here; a closing bracket is needed.");
            self.skip_over(closer);
        }
        Some(For { key, value, collection, key_expression, value_expression, condition, grouping, open, close: open })
    }

    /// The names of the variables, up to and with the word `in`.
    fn for_variables(&mut self, open: Span) -> Option<(Option<Ident>, Ident)> {
        let Some(token) = self.accept(TokenKind::Identifier) else {
            return self.for_error(open, "The name of a variable must follow after \"for\".");
        };
        let mut key = None;
        let mut value = self.ident_of(token);
        if self.accept(TokenKind::Comma).is_some() {
            let Some(token) = self.accept(TokenKind::Identifier) else {
                return self.for_error(open, "The name of a variable for the values must follow after the comma.");
            };
            key = Some(std::mem::replace(&mut value, self.ident_of(token)));
        }
        if !self.at_word("in") {
            return self
                .for_error(open, "The word \"in\" and a collection must follow after the names of the variables.");
        }
        self.bump();
        Some((key, value))
    }

    /// Returns the result of `parse`, unless it failed.
    fn understood<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let problems = self.problems;
        let result = parse(self);
        (!self.lost_since(problems)).then_some(result)
    }

    fn for_error<T>(&mut self, open: Span, detail: &str) -> Option<T> {
        let found = self.next_span();
        self.syntax_error(Diagnostic::error("Invalid 'for' expression", detail).at(found).within(open.to(found)));
        None
    }

    /// Objects need keys, tuples have none.
    fn check_for(&mut self, parts: &For, closer: TokenKind, span: Span) {
        let mut report = |subject: Span, detail: &str| {
            self.value_error(Diagnostic::error("Invalid 'for' expression", detail).at(subject).within(span));
        };
        if closer == TokenKind::CloseBrace {
            if parts.key_expression.is_none() {
                let detail =
                    "A \"for\" expression in braces makes an object and needs a key for each value: key => value";
                report(parts.value_expression.span, detail);
            }
            return;
        }
        if let Some(key) = &parts.key_expression {
            report(
                key.span,
                "A \"for\" expression in brackets makes a list, which has no keys. Use braces to make an object.",
            );
        }
        if let Some(grouping) = parts.grouping {
            report(grouping, "Values are grouped by key, so \"...\" is only for \"for\" expressions in braces.");
        }
    }
}
