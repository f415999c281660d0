//! Expressions: conditionals, operators and terms, by precedence climbing.

use groma_diagnostics::Diagnostic;

use super::{Newlines, Parser};
use crate::ast::{Binary, BinaryOperator, Conditional, Expression, ExpressionKind, Node, Unary, UnaryOperator};
use crate::depth::{MAX_NESTING, with_stack};
use crate::token::TokenKind;

/// Returns the operator of a token with its precedence; higher binds more tightly.
const fn binary_operator(kind: TokenKind) -> Option<(BinaryOperator, u8)> {
    Some(match kind {
        TokenKind::Or => (BinaryOperator::Or, 1),
        TokenKind::And => (BinaryOperator::And, 2),
        TokenKind::EqualEqual => (BinaryOperator::Equal, 3),
        TokenKind::NotEqual => (BinaryOperator::NotEqual, 3),
        TokenKind::Greater => (BinaryOperator::Greater, 4),
        TokenKind::GreaterEqual => (BinaryOperator::GreaterOrEqual, 4),
        TokenKind::Less => (BinaryOperator::Less, 4),
        TokenKind::LessEqual => (BinaryOperator::LessOrEqual, 4),
        TokenKind::Plus => (BinaryOperator::Add, 5),
        TokenKind::Minus => (BinaryOperator::Subtract, 5),
        TokenKind::Star => (BinaryOperator::Multiply, 6),
        TokenKind::Slash => (BinaryOperator::Divide, 6),
        TokenKind::Percent => (BinaryOperator::Modulo, 6),
        _ => return None,
    })
}

/// Whether an operator follows an operand. The operator kinds are adjacent in [`TokenKind`], which makes this a range
/// check.
const fn continues_operation(kind: TokenKind) -> bool {
    binary_operator(kind).is_some() || matches!(kind, TokenKind::Question)
}

/// The precedence of the loosest operator.
const ANY_OPERATOR: u8 = 1;

impl Parser<'_> {
    /// Parses an expression, including conditionals.
    pub(crate) fn expression(&mut self) -> Expression {
        match self.descend(MAX_NESTING) {
            Ok(outer) => {
                let expression = with_stack(|| self.conditional());
                self.ascend(outer);
                expression
            }
            Err(span) => Expression::invalid(span),
        }
    }

    /// Parses the whole text as one expression, in which line ends are insignificant.
    pub(crate) fn whole_expression(&mut self) -> Expression {
        self.with_newlines(Newlines::Ignored, |parser| {
            let expression = parser.expression();
            if parser.kind() != TokenKind::End {
                let found = parser.next_span();
                let detail = "Unexpected text after the end of the expression.";
                parser.syntax_error(Diagnostic::error("Extra characters after expression", detail).at(found));
            }
            expression
        })
    }

    fn conditional(&mut self) -> Expression {
        let problems = self.problems;
        let mut expression = self.operand();
        // Most expressions are a single operand.
        if continues_operation(self.kind()) {
            expression = self.conditional_from(expression, problems);
        }
        expression
    }

    /// Parses the conditional or operation that begins with the operand `first`. `problems` is the problem count before
    /// it.
    fn conditional_from(&mut self, first: Expression, problems: usize) -> Expression {
        let condition = self.operation_from(first, ANY_OPERATOR, problems);
        if self.failed_since(problems) || self.accept(TokenKind::Question).is_none() {
            return condition;
        }
        let yes = self.expression();
        if self.failed_since(problems) {
            return condition;
        }
        if self.accept(TokenKind::Colon).is_none() {
            let found = self.next_span();
            let detail = "Expected a colon and the result for \"false\" after the result for \"true\": \
                          condition ? one : other";
            let diagnostic = Diagnostic::error("Missing false expression in conditional", detail);
            self.syntax_error(diagnostic.at(found).within(condition.span.to(found)));
            return condition;
        }
        let no = self.expression();
        let span = condition.span.to(no.span);
        Expression::new(ExpressionKind::Conditional(Node::new(Conditional { condition, yes, no })), span)
    }

    /// Parses operations of at least the precedence `weakest`.
    fn operation(&mut self, weakest: u8) -> Expression {
        let problems = self.problems;
        let first = self.operand();
        self.operation_from(first, weakest, problems)
    }

    /// Parses the operation that begins with the operand `left`. `problems` is the problem count before it.
    fn operation_from(&mut self, mut left: Expression, weakest: u8, problems: usize) -> Expression {
        while let Some((operator, strength)) = binary_operator(self.kind()) {
            if strength < weakest || self.failed_since(problems) {
                break;
            }
            let symbol = self.bump();
            let symbol = self.span(symbol);
            if operator == BinaryOperator::Multiply && self.kind() == TokenKind::Star {
                self.no_power_operator();
                break;
            }
            // The right operand must bind more tightly, which makes operators of one precedence left-associative.
            let right = self.operation(strength + 1);
            let span = left.span.to(right.span);
            left = Expression::new(ExpressionKind::Binary(Node::new(Binary { operator, left, right, symbol })), span);
            if !self.grow() {
                break;
            }
        }
        left
    }

    fn no_power_operator(&mut self) {
        let found = self.next_span();
        let detail = "There is no exponentiation operator. Use the \"pow\" function instead.";
        self.syntax_error(Diagnostic::error("Invalid expression", detail).at(found));
    }

    /// Parses a term or a unary operation, with all postfix operators.
    fn operand(&mut self) -> Expression {
        let mut operand = self.term();
        if self.is_at_access() {
            operand = self.taken_from(operand);
        }
        operand
    }

    fn unary(&mut self, operator: UnaryOperator) -> Expression {
        let symbol = self.bump();
        let symbol = self.span(symbol);
        let Some(operand) = self.nested(Self::operand) else { return Expression::invalid(symbol) };
        let span = symbol.to(operand.span);
        Expression::new(ExpressionKind::Unary(Node::new(Unary { operator, operand, symbol })), span)
    }

    /// Parses an expression that begins with a name: a keyword, a call, or a reference with its postfix operators.
    fn named(&mut self) -> Expression {
        let token = self.next;
        // Scanning plain attributes ahead avoids the general postfix loop, because most references have nothing else.
        let attributes = self.attributes_at(self.at + 1);
        self.go_to(attributes.end);
        if attributes.is_empty() && matches!(self.kind(), TokenKind::OpenParenthesis | TokenKind::DoubleColon) {
            return self.call(token);
        }
        let kind = match self.bytes_of(token) {
            b"true" => ExpressionKind::Bool(true),
            b"false" => ExpressionKind::Bool(false),
            b"null" => ExpressionKind::Null,
            _ => return self.reference(token, attributes),
        };
        // Back to the dot: the general postfix loop parses the steps after a literal.
        self.go_to(attributes.start);
        Expression::new(kind, self.span(token))
    }

    fn term(&mut self) -> Expression {
        match self.kind() {
            TokenKind::Identifier => self.named(),
            TokenKind::OpenQuote | TokenKind::OpenHeredoc => self.template_term(),
            TokenKind::Number => self.number(),
            TokenKind::OpenBracket => self.tuple(),
            TokenKind::OpenBrace => self.object(),
            TokenKind::OpenParenthesis => self.parentheses(),
            TokenKind::Minus => self.unary(UnaryOperator::Negate),
            TokenKind::Bang => self.unary(UnaryOperator::Not),
            _ => self.no_expression(),
        }
    }

    fn number(&mut self) -> Expression {
        let token = self.bump();
        let span = self.span(token);
        if !is_number(self.bytes_of(token)) {
            let detail = "Invalid number: expected digits, optionally with a decimal point and more digits, and optionally \
                          with an exponent such as e10.";
            self.value_error(Diagnostic::error("Invalid number literal", detail).at(span));
            return Expression::invalid(span);
        }
        Expression::new(ExpressionKind::Number(self.name_of(token)), span)
    }

    fn parentheses(&mut self) -> Expression {
        let open = self.bump();
        let open = self.span(open);
        let problems = self.problems;
        let inner = self.bracketed(TokenKind::CloseParenthesis, Newlines::Ignored, |parser| {
            let inner = parser.expression();
            if parser.failed_since(problems) {
                parser.skip_over(TokenKind::CloseParenthesis);
            } else if parser.accept(TokenKind::CloseParenthesis).is_none() {
                let found = parser.next_span();
                let detail = "Expected a closing parenthesis after the expression.";
                let diagnostic = Diagnostic::error("Unbalanced parentheses", detail).at(found).within(open.to(found));
                parser.syntax_error(diagnostic);
                parser.skip_over(TokenKind::CloseParenthesis);
            }
            inner
        });
        let span = open.to(self.last_span());
        Expression::new(ExpressionKind::Parentheses(Node::new(inner)), span)
    }

    fn no_expression(&mut self) -> Expression {
        let found = self.next_span();
        let diagnostic = if self.kind() == TokenKind::End {
            Diagnostic::error("Missing expression", "Expected an expression, but the file ends here.")
        } else {
            let detail = "Expected an expression: a value, a reference, a function call, or an opening bracket.";
            Diagnostic::error("Invalid expression", detail)
        };
        self.syntax_error(diagnostic.at(found));
        Expression::invalid(found)
    }
}

/// Whether a number token is valid: at most one decimal point, followed by at most one exponent.
fn is_number(text: &[u8]) -> bool {
    let is_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let mut parts = text.splitn(2, |byte| matches!(byte, b'e' | b'E'));
    let mantissa = parts.next().unwrap_or_default();
    let exponent = parts.next().map(|exponent| match exponent {
        [b'+' | b'-', digits @ ..] => digits,
        _ => exponent,
    });
    is_digits(text) || mantissa.iter().filter(|byte| **byte == b'.').count() <= 1 && exponent.is_none_or(is_digits)
}
