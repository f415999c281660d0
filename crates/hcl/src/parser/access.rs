//! Postfix operators: attributes, indexes and splats.

use std::ops::Range;

use groma_diagnostics::{Diagnostic, Span};

use super::scratch::Mark;
use super::{Newlines, Parser};
use crate::ast::{
    Expression, ExpressionKind, Ident, Index, List, LiteralKey, Node, Relative, Selector, Splat, SplatKind, Step,
    Traversal,
};
use crate::depth::MAX_BLOCKS;
use crate::token::{Token, TokenKind};

/// A term followed by literal steps, which are on the parser's stack from `steps` on.
struct Chain {
    start: Term,
    steps: Mark,
    span: Span,
}

/// The operand of the postfix operators.
enum Term {
    Root(Ident),
    Value(Expression),
}

/// One postfix operator after a term.
enum Access {
    Step(Step),
    Index {
        key: Expression,
        span: Span,
    },
    Splat {
        kind: SplatKind,
        each: Vec<Selector>,
        marker: Span,
        span: Span,
    },
    /// An invalid operator, already reported.
    Invalid(Span),
}

impl Parser<'_> {
    /// Parses a reference that begins with the name `token` and the already scanned `attributes` after it.
    pub(super) fn reference(&mut self, token: Token, attributes: Range<usize>) -> Expression {
        let span = self.origin.span(token.start, self.tokens.end(attributes.end - 1));
        let root = self.ident_of(token);
        let dots = attributes.step_by(2);
        if !self.is_at_access() {
            let steps = dots.map(|dot| self.attribute_step(dot));
            return Expression::new(ExpressionKind::Traversal(Traversal::new(root, steps, span)), span);
        }
        let steps = self.scratch.steps.mark();
        for dot in dots {
            let step = self.attribute_step(dot);
            self.scratch.steps.push(step);
        }
        self.accesses(Chain { start: Term::Root(root), steps, span })
    }

    /// Returns the range of adjacent attribute tokens from `first` on: pairs of a dot and a name without whitespace.
    pub(super) fn attributes_at(&self, first: usize) -> Range<usize> {
        let (pairs, _) = self.tokens.list.get(first..).unwrap_or_default().as_chunks();
        let is_attribute = |[dot, name]: &[Token; 2]| dot.kind == TokenKind::Dot && name.kind == TokenKind::Identifier;
        let count = pairs.iter().position(|pair| !is_attribute(pair)).unwrap_or(pairs.len());
        first..first + 2 * count
    }

    /// Returns the attribute step for the dot at an index and the name after it.
    fn attribute_step(&mut self, dot: usize) -> Step {
        let name = self.tokens.at(dot + 1);
        let span = self.origin.span(self.tokens.start(dot), name.end);
        Step::Attribute { name: self.name_of(name), span }
    }

    /// Parses all postfix operators after `value`.
    pub(super) fn taken_from(&mut self, value: Expression) -> Expression {
        let (steps, span) = (self.scratch.steps.mark(), value.span);
        self.accesses(Chain { start: Term::Value(value), steps, span })
    }

    /// Parses all remaining postfix operators of `chain`.
    fn accesses(&mut self, mut chain: Chain) -> Expression {
        while self.is_at_access() {
            chain = match self.access() {
                Access::Step(step) => {
                    chain.span = chain.span.to(step.span());
                    self.scratch.steps.push(step);
                    continue;
                }
                Access::Index { key, span } => self.wrap(chain, span, |source| {
                    ExpressionKind::Index(Node::new(Index { source, key, brackets: span }))
                }),
                Access::Splat { kind, each, marker, span } => self
                    .wrap(chain, span, |source| ExpressionKind::Splat(Node::new(Splat { source, kind, each, marker }))),
                Access::Invalid(span) => self.wrap(chain, span, |_| ExpressionKind::Invalid),
            };
            if !self.grow() {
                break;
            }
        }
        self.end_chain(chain)
    }

    /// Turns everything so far into the source of a larger expression, which ends with `span`.
    fn wrap(&mut self, chain: Chain, span: Span, kind: impl FnOnce(Expression) -> ExpressionKind) -> Chain {
        let steps = chain.steps;
        let span = chain.span.to(span);
        let source = self.end_chain(chain);
        Chain { start: Term::Value(Expression::new(kind(source), span)), steps, span }
    }

    fn end_chain(&mut self, chain: Chain) -> Expression {
        let Chain { start, steps, span } = chain;
        let is_plain = self.scratch.steps.since(steps).is_empty();
        let steps = self.scratch.steps.drain(steps);
        let kind = match start {
            Term::Root(root) => ExpressionKind::Traversal(Traversal::new(root, steps, span)),
            Term::Value(value) if is_plain => return value,
            Term::Value(source) => ExpressionKind::Relative(Node::new(Relative { source, steps: List::new(steps) })),
        };
        Expression::new(kind, span)
    }

    /// Parses all selectors of a full splat.
    fn selectors(&mut self) -> Vec<Selector> {
        let mut selectors = Vec::new();
        while self.is_at_access() {
            selectors.push(match self.access() {
                Access::Step(step) => Selector::Step(step),
                Access::Index { key, span } => Selector::Index { key, span },
                Access::Splat { kind, each, marker, .. } => Selector::Splat { kind, each, span: marker },
                Access::Invalid(span) => Selector::Index { key: Expression::invalid(span), span },
            });
        }
        selectors.shrink_to_fit();
        selectors
    }

    pub(super) fn is_at_access(&self) -> bool {
        matches!(self.kind(), TokenKind::Dot | TokenKind::OpenBracket)
    }

    fn access(&mut self) -> Access {
        if self.kind() == TokenKind::Dot { self.dot() } else { self.brackets() }
    }

    fn dot(&mut self) -> Access {
        let dot = self.bump();
        let dot = self.span(dot);
        match self.kind() {
            TokenKind::Identifier => Access::Step(self.named_step(dot)),
            TokenKind::Number => match self.legacy_index(dot) {
                Ok(step) => Access::Step(step),
                Err(span) => Access::Invalid(span),
            },
            TokenKind::Star => self.attribute_splat(dot),
            _ => {
                let found = self.next_span();
                self.no_attribute_name(found);
                Access::Invalid(dot)
            }
        }
    }

    /// Parses an attribute name after its dot.
    fn named_step(&mut self, dot: Span) -> Step {
        let token = self.bump();
        Step::Attribute { name: self.name_of(token), span: dot.to(self.span(token)) }
    }

    fn no_attribute_name(&mut self, found: Span) {
        let detail = "Expected an attribute name after the dot.";
        self.syntax_error(Diagnostic::error("Invalid attribute name", detail).at(found));
    }

    /// Parses `.0`, the index syntax of Terraform 0.11 and earlier.
    fn legacy_index(&mut self, dot: Span) -> Result<Step, Span> {
        let token = self.bump();
        let span = dot.to(self.span(token));
        let text = self.text_of(token);
        if let Some((first, second)) = text.split_once('.') {
            let detail = format!("Index syntax with a dot cannot be repeated. Write [{first}][{second}] instead.");
            let diagnostic = Diagnostic::error("Invalid legacy index syntax", detail).at(self.span(token));
            self.value_error(diagnostic);
            return Err(span);
        }
        Ok(Step::Index { key: LiteralKey::Number(self.name_of(token)), span })
    }

    /// Parses `.*` with the attributes that it projects.
    fn attribute_splat(&mut self, dot: Span) -> Access {
        let star = self.bump();
        let marker = dot.to(self.span(star));
        let mut each = Vec::new();
        let mut span = marker;
        while let Some(dot) = self.accept(TokenKind::Dot) {
            let dot = self.span(dot);
            let step = match self.kind() {
                TokenKind::Identifier => self.named_step(dot),
                TokenKind::Number => match self.legacy_index(dot) {
                    Ok(step) => step,
                    Err(wrong) => return Access::Invalid(marker.to(wrong)),
                },
                TokenKind::Star => {
                    let detail = "A \".*\" splat cannot be followed by another one. Use \"[*]\" for both.";
                    let found = self.next_span();
                    self.syntax_error(Diagnostic::error("Nested splat expression not allowed", detail).at(found));
                    return Access::Invalid(marker);
                }
                _ => {
                    self.no_attribute_name(self.span(star));
                    return Access::Invalid(marker);
                }
            };
            span = span.to(step.span());
            each.push(Selector::Step(step));
        }
        Access::Splat { kind: SplatKind::Attribute, each, marker, span }
    }

    fn brackets(&mut self) -> Access {
        let open = self.bump();
        let open = self.span(open);
        if self.kind() == TokenKind::Star {
            return self.full_splat(open);
        }
        let problems = self.problems;
        let key = self.bracketed(TokenKind::CloseBracket, Newlines::Ignored, |parser| {
            let key = parser.expression();
            if parser.failed_since(problems) {
                parser.skip_over(TokenKind::CloseBracket);
            } else if parser.accept(TokenKind::CloseBracket).is_none() {
                let found = parser.next_span();
                let detail = "Expected a closing bracket after the index.";
                parser.syntax_error(Diagnostic::error("Missing close bracket on index", detail).at(found));
                parser.skip_over(TokenKind::CloseBracket);
            }
            key
        });
        let span = open.to(self.last_span());
        // A literal key needs no evaluation, so it becomes a step of the reference.
        match key.kind {
            ExpressionKind::Number(digits) => Access::Step(Step::Index { key: LiteralKey::Number(digits), span }),
            ExpressionKind::String(text) => Access::Step(Step::Index { key: LiteralKey::String(text), span }),
            _ => Access::Index { key, span },
        }
    }

    fn full_splat(&mut self, open: Span) -> Access {
        self.bump();
        if self.accept(TokenKind::CloseBracket).is_none() {
            let found = self.next_span();
            let detail = "Expected a closing bracket after the splat's asterisk.";
            self.syntax_error(Diagnostic::error("Missing close bracket on splat index", detail).at(found));
            self.skip_over(TokenKind::CloseBracket);
        }
        let marker = open.to(self.last_span());
        let each = self.nested_up_to(MAX_BLOCKS, Self::selectors).unwrap_or_default();
        let span = marker.to(self.last_span());
        Access::Splat { kind: SplatKind::Full, each, marker, span }
    }
}
