//! Tuple and object constructors.

use groma_diagnostics::{Diagnostic, Span};

use super::{Newlines, Parser};
use crate::ast::{Expression, ExpressionKind, ObjectItem};
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// Parses `[…]`: a tuple constructor or a `for` expression.
    pub(super) fn tuple(&mut self) -> Expression {
        let open = self.bump();
        self.bracketed(TokenKind::CloseBracket, Newlines::Ignored, |parser| {
            if parser.at_word("for") { parser.for_expression(open) } else { parser.elements(open) }
        })
    }

    fn elements(&mut self, open: Token) -> Expression {
        let open = self.span(open);
        let elements = self.scratch.expressions.mark();
        loop {
            if self.accept(TokenKind::CloseBracket).is_some() {
                break;
            }
            let problems = self.problems;
            let element = self.expression();
            self.scratch.expressions.push(element);
            if self.failed_since(problems) {
                self.skip_over(TokenKind::CloseBracket);
                break;
            }
            if self.accept(TokenKind::Comma).is_none() && self.kind() != TokenKind::CloseBracket {
                self.no_element_separator(open);
                self.skip_over(TokenKind::CloseBracket);
                break;
            }
        }
        let span = open.to(self.last_span());
        let elements = self.scratch.expressions.take(elements);
        Expression::new(ExpressionKind::Tuple(elements), span)
    }

    fn no_element_separator(&mut self, open: Span) {
        let found = self.next_span();
        if self.kind() == TokenKind::End {
            let detail = "This list has no closing bracket before the end of the file.";
            self.syntax_error(Diagnostic::error("Unterminated tuple constructor expression", detail).at(open));
        } else {
            let detail = "Expected a comma before the next element, or a closing bracket after the last one.";
            let diagnostic = Diagnostic::error("Missing item separator", detail).at(found).within(open.to(found));
            self.syntax_error(diagnostic);
        }
    }

    /// Parses `{…}`: an object constructor or a `for` expression.
    pub(super) fn object(&mut self) -> Expression {
        let open = self.bump();
        // `for` may follow on a later line, where object items would treat the line end as a separator.
        let is_for = self.with_newlines(Newlines::Ignored, |parser| parser.at_word("for"));
        if is_for {
            return self.bracketed(TokenKind::CloseBrace, Newlines::Ignored, |parser| parser.for_expression(open));
        }
        self.bracketed(TokenKind::CloseBrace, Newlines::Significant, |parser| parser.items(open))
    }

    fn items(&mut self, open: Token) -> Expression {
        let open = self.span(open);
        let items = self.scratch.object_items.mark();
        loop {
            if self.accept(TokenKind::Newline).is_some() {
                continue;
            }
            if self.accept(TokenKind::CloseBrace).is_some() {
                break;
            }
            if !self.object_item(open) {
                self.skip_over(TokenKind::CloseBrace);
                break;
            }
            match self.kind() {
                TokenKind::Comma | TokenKind::Newline => {
                    self.bump();
                }
                TokenKind::CloseBrace => {}
                _ => {
                    self.no_item_separator(open);
                    self.skip_over(TokenKind::CloseBrace);
                    break;
                }
            }
        }
        let span = open.to(self.last_span());
        Expression::new(ExpressionKind::Object(self.scratch.object_items.take(items)), span)
    }

    /// Parses one item. Returns false if it was invalid.
    fn object_item(&mut self, open: Span) -> bool {
        let problems = self.problems;
        let key = self.bare_key().unwrap_or_else(|| self.expression());
        if self.failed_since(problems) {
            return false;
        }
        if self.accept(TokenKind::Equal).is_none() && self.accept(TokenKind::Colon).is_none() {
            self.no_value(open);
            return false;
        }
        let value = self.expression();
        self.scratch.object_items.push(ObjectItem { key, value });
        !self.failed_since(problems)
    }

    /// Parses a bare name before an equals sign or colon as a literal key, not as a reference.
    fn bare_key(&mut self) -> Option<Expression> {
        // These words are literals even as keys; the evaluator turns their values into names.
        let is_before_sign = self.kind() == TokenKind::Identifier
            && matches!(self.kind_after(self.at), TokenKind::Equal | TokenKind::Colon)
            && !matches!(self.text_of(self.next), "true" | "false" | "null");
        let token = is_before_sign.then(|| self.bump())?;
        Some(Expression::new(ExpressionKind::String(self.name_of(token)), self.span(token)))
    }

    fn no_value(&mut self, open: Span) {
        let found = self.next_span();
        let (summary, detail) = match self.kind() {
            TokenKind::End => {
                self.unterminated_object(open);
                return;
            }
            TokenKind::Newline | TokenKind::Comma => {
                ("Missing attribute value", "Expected an equals sign and a value after the attribute name.")
            }
            TokenKind::Identifier => (
                "Missing key/value separator",
                "Expected an equals sign between the attribute name and its value. Quote names that contain dots or \
                 spaces.",
            ),
            _ => ("Missing key/value separator", "Expected an equals sign between the attribute name and its value."),
        };
        self.syntax_error(Diagnostic::error(summary, detail).at(found).within(open.to(found)));
    }

    fn no_item_separator(&mut self, open: Span) {
        if self.kind() == TokenKind::End {
            self.unterminated_object(open);
            return;
        }
        let found = self.next_span();
        let detail = "Expected a comma or a new line before the next attribute.";
        let diagnostic = Diagnostic::error("Missing attribute separator", detail).at(found).within(open.to(found));
        self.syntax_error(diagnostic);
    }

    fn unterminated_object(&mut self, open: Span) {
        let detail = "This object has no closing brace before the end of the file.";
        self.syntax_error(Diagnostic::error("Unterminated object constructor expression", detail).at(open));
    }
}
