//! Parsing of `for` expressions.

use groma_diagnostics::{Diagnostic, Span};

use super::Parser;
use crate::ast::{Expression, ExpressionKind, For, Ident, Node};
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// Parses the `for` expression in the bracket `open`; the keyword `for` is next.
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
        Expression::new(ExpressionKind::For(Node::new(parts)), span)
    }

    /// Parses everything up to and including the closing bracket. Returns `None` after a syntax error.
    fn for_parts(&mut self, open: Span, closer: TokenKind) -> Option<For> {
        self.bump();
        let (key, value) = self.for_variables(open)?;
        let collection = self.understood(Self::expression)?;
        if self.accept(TokenKind::Colon).is_none() {
            return self.for_error(open, "Expected a colon after the collection, followed by the result expression.");
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
            // All parts are complete, so the expression is kept despite the missing bracket.
            let _: Option<()> = self.for_error(open, "Expected a closing bracket after the \"for\" expression.");
            self.skip_over(closer);
        }
        Some(For { key, value, collection, key_expression, value_expression, condition, grouping, open, close: open })
    }

    /// Parses the variable names and the keyword `in`.
    fn for_variables(&mut self, open: Span) -> Option<(Option<Ident>, Ident)> {
        let Some(token) = self.accept(TokenKind::Identifier) else {
            return self.for_error(open, "Expected a variable name after \"for\".");
        };
        let mut key = None;
        let mut value = self.ident_of(token);
        if self.accept(TokenKind::Comma).is_some() {
            let Some(token) = self.accept(TokenKind::Identifier) else {
                return self.for_error(open, "Expected a value variable name after the comma.");
            };
            key = Some(std::mem::replace(&mut value, self.ident_of(token)));
        }
        if !self.at_word("in") {
            return self.for_error(open, "Expected \"in\" and a collection after the variable names.");
        }
        self.bump();
        Some((key, value))
    }

    /// Returns the result of `parse`, unless it failed with a syntax error.
    fn understood<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let problems = self.problems;
        let result = parse(self);
        (!self.failed_since(problems)).then_some(result)
    }

    fn for_error<T>(&mut self, open: Span, detail: &str) -> Option<T> {
        let found = self.next_span();
        self.syntax_error(Diagnostic::error("Invalid 'for' expression", detail).at(found).within(open.to(found)));
        None
    }

    /// Checks that objects have keys and tuples have none.
    fn check_for(&mut self, parts: &For, closer: TokenKind, span: Span) {
        let mut report = |subject: Span, detail: &str| {
            self.value_error(Diagnostic::error("Invalid 'for' expression", detail).at(subject).within(span));
        };
        if closer == TokenKind::CloseBrace {
            if parts.key_expression.is_none() {
                let detail =
                    "A \"for\" expression in braces produces an object, so it needs a key for each value: key => value";
                report(parts.value_expression.span, detail);
            }
            return;
        }
        if let Some(key) = &parts.key_expression {
            report(
                key.span,
                "A \"for\" expression in brackets produces a list, which has no keys. Use braces to produce an object.",
            );
        }
        if let Some(grouping) = parts.grouping {
            report(
                grouping,
                "Grouping with \"...\" requires keys, so it is only supported in \"for\" expressions in braces.",
            );
        }
    }
}
