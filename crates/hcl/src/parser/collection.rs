//! Tuples and objects that are written out.

use groma_diagnostics::{Diagnostic, Span};

use super::{Newlines, Parser};
use crate::ast::{Expression, ExpressionKind, ObjectItem};
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// `[…]`: a tuple or a `for` expression.
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
            if self.lost_since(problems) {
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
            let detail = "The text ends before a closing bracket for this list.";
            self.syntax_error(Diagnostic::error("Unterminated tuple constructor expression", detail).at(open));
        } else {
            let detail = "A comma must stand between two elements, and a closing bracket after the last one.";
            let diagnostic = Diagnostic::error("Missing item separator", detail).at(found).within(open.to(found));
            self.syntax_error(diagnostic);
        }
    }

    /// `{…}`: an object or a `for` expression.
    pub(super) fn object(&mut self) -> Expression {
        let open = self.bump();
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

    /// One item; false when it could not be understood.
    fn object_item(&mut self, open: Span) -> bool {
        let problems = self.problems;
        let key = self.bare_key().unwrap_or_else(|| self.expression());
        if self.lost_since(problems) {
            return false;
        }
        if self.accept(TokenKind::Equal).is_none() && self.accept(TokenKind::Colon).is_none() {
            self.no_value(open);
            return false;
        }
        let value = self.expression();
        self.scratch.object_items.push(ObjectItem { key, value });
        !self.lost_since(problems)
    }

    /// A name right before the equals sign or colon: it is the name of the attribute, not a reference.
    fn bare_key(&mut self) -> Option<Expression> {
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
                ("Missing attribute value", "An equals sign and a value must follow after the name of an attribute.")
            }
            TokenKind::Identifier => (
                "Missing key/value separator",
                "An equals sign must stand between the name of an attribute and its value. A name with dots or spaces \
                 in it stands in quotes.",
            ),
            _ => (
                "Missing key/value separator",
                "An equals sign must stand between the name of an attribute and its value.",
            ),
        };
        self.syntax_error(Diagnostic::error(summary, detail).at(found).within(open.to(found)));
    }

    fn no_item_separator(&mut self, open: Span) {
        if self.kind() == TokenKind::End {
            self.unterminated_object(open);
            return;
        }
        let found = self.next_span();
        let detail = "The value is complete here; a comma or a new line must come before the next attribute.";
        let diagnostic = Diagnostic::error("Missing attribute separator", detail).at(found).within(open.to(found));
        self.syntax_error(diagnostic);
    }

    fn unterminated_object(&mut self, open: Span) {
        let detail = "The text ends before a closing brace for this object.";
        self.syntax_error(Diagnostic::error("Unterminated object constructor expression", detail).at(open));
    }
}
