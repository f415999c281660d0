//! Parsing of function calls.

use groma_diagnostics::{Diagnostic, Span};

use super::{Newlines, Parser};
use crate::ast::{Call, CallHead, Expression, ExpressionKind, Ident, Name};
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// The call of the function whose name begins with the token `first`; `::` or `(` is next.
    pub(super) fn call(&mut self, first: Token) -> Expression {
        let name = match self.function_name(first) {
            Ok(name) => name,
            Err(span) => return Expression::invalid(span),
        };
        let open = self.bump();
        let open = self.span(open);
        let name_span = name.span;
        let call =
            self.bracketed(TokenKind::CloseParenthesis, Newlines::Ignored, |parser| parser.arguments(name, open));
        let span = name_span.to(call.close);
        Expression::new(ExpressionKind::Call(call), span)
    }

    fn function_name(&mut self, first: Token) -> Result<Ident, Span> {
        if self.kind() == TokenKind::OpenParenthesis {
            return Ok(self.ident_of(first));
        }
        let mut name = self.text_of(first).to_owned();
        let mut span = self.span(first);
        while self.accept(TokenKind::DoubleColon).is_some() {
            let found = self.next;
            if self.accept(TokenKind::Identifier).is_none() {
                let detail = "After \"::\" comes the name of a function, or of a further namespace.";
                return Err(self.broken_name("Missing function name", detail, span, found));
            }
            name.push_str("::");
            name.push_str(self.text_of(found));
            span = span.to(self.span(found));
        }
        if self.kind() != TokenKind::OpenParenthesis {
            let detail = "After the name of a function come its arguments in parentheses.";
            return Err(self.broken_name("Missing open parenthesis", detail, span, self.next));
        }
        Ok(Ident { name: Name::from(name), span })
    }

    fn broken_name(&mut self, summary: &str, detail: &str, name: Span, found: Token) -> Span {
        let found = self.span(found);
        self.syntax_error(Diagnostic::error(summary, detail).at(found).within(name.to(found)));
        name
    }

    fn arguments(&mut self, name: Ident, open: Span) -> Call {
        let arguments = self.scratch.expressions.mark();
        let mut expansion = None;
        while self.kind() != TokenKind::CloseParenthesis {
            let problems = self.problems;
            let argument = self.expression();
            self.scratch.expressions.push(argument);
            if self.lost_since(problems) {
                break;
            }
            if let Some(token) = self.accept(TokenKind::Ellipsis) {
                expansion = Some(self.span(token));
                if self.kind() != TokenKind::CloseParenthesis {
                    let detail = "An argument that is expanded with \"...\" must be the last one.";
                    let diagnostic = Diagnostic::error("Missing closing parenthesis", detail).at(self.span(token));
                    self.syntax_error(diagnostic.within(name.span.to(self.span(token))));
                }
                break;
            }
            if self.accept(TokenKind::Comma).is_none() {
                if self.kind() != TokenKind::CloseParenthesis {
                    self.no_separator(&name, open);
                }
                break;
            }
        }
        if self.accept(TokenKind::CloseParenthesis).is_none() {
            self.skip_over(TokenKind::CloseParenthesis);
        }
        let head = CallHead { name, expansion, open, close: self.last_span() };
        Call::new(head, self.scratch.expressions.drain(arguments))
    }

    fn no_separator(&mut self, name: &Ident, open: Span) {
        let found = self.next_span();
        if self.kind() == TokenKind::End {
            let detail = "The text ends before a closing parenthesis for this call.";
            let diagnostic = Diagnostic::error("Unterminated function call", detail).at(name.span.to(open));
            self.syntax_error(diagnostic);
        } else {
            let detail = "A comma must stand between two arguments, and a closing parenthesis after the last one.";
            let diagnostic = Diagnostic::error("Missing argument separator", detail);
            self.syntax_error(diagnostic.at(found).within(name.span.to(found)));
        }
    }
}
