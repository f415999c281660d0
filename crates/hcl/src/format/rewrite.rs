//! Rewriting of deprecated spellings:
//!
//! - an argument whose value is a single interpolation, `a = "${b}"`, becomes `a = b`;
//! - a quoted variable type, `"list"`, becomes `list(string)`, and a bare `list` becomes `list(any)`;
//! - block labels are quoted, and comments between them are dropped.

use std::ops::Range;

use crate::ast::ExpressionKind;
use crate::body::NativeBody;
use crate::body::{Attribute, Block, Source};
use crate::encoding::write_literal_content;
use crate::token::{TokenKind, Tokens};

use super::{BASE, Piece};

/// A range of tokens and its replacement.
pub(super) struct Edit {
    tokens: Range<usize>,
    replacement: Replacement,
}

enum Replacement {
    /// Keep only the tokens of the inner range, in parentheses if necessary.
    Inside(Range<usize>, Wrapping),
    Tokens(Vec<Piece<'static>>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapping {
    Bare,
    Parentheses,
}

/// Finds the edits for a body and everything in it, in source order.
pub(super) fn edits(body: &NativeBody, text: &str, tokens: &Tokens) -> Vec<Edit> {
    let mut finder = Finder { text, tokens, edits: Vec::new() };
    finder.body(body, BodyContext::Root);
    // Arguments are visited before blocks, so the edits are not in source order yet.
    finder.edits.sort_by_key(|edit| edit.tokens.start);
    finder.edits
}

/// Applies edits to the token pieces.
pub(super) fn apply<'a>(pieces: Vec<(usize, Piece<'a>)>, edits: Vec<Edit>) -> Vec<Piece<'a>> {
    let mut result = Vec::with_capacity(pieces.len());
    let mut edits = edits.into_iter().peekable();
    let mut pieces = pieces.into_iter().peekable();
    while let Some((index, piece)) = pieces.next() {
        let Some(edit) = edits.next_if(|edit| edit.tokens.contains(&index)) else {
            result.push(piece);
            continue;
        };
        let mut taken = vec![(index, piece)];
        while let Some(next) = pieces.next_if(|(index, _)| edit.tokens.contains(index)) {
            taken.push(next);
        }
        match edit.replacement {
            Replacement::Tokens(tokens) => result.extend(tokens),
            Replacement::Inside(inner, wrapping) => {
                let kept = taken.into_iter().filter(|(index, _)| inner.contains(index)).map(|(_, piece)| piece);
                match wrapping {
                    Wrapping::Bare => result.extend(kept),
                    Wrapping::Parentheses => {
                        result.push(made(TokenKind::OpenParenthesis, "("));
                        result.extend(kept);
                        result.push(made(TokenKind::CloseParenthesis, ")"));
                    }
                }
            }
        }
    }
    result
}

fn made(kind: TokenKind, text: &str) -> Piece<'static> {
    Piece { kind, text: text.to_owned().into(), spaces: 0 }
}

/// The context of a body, as far as it affects the rewriting of its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyContext {
    Root,
    Variable,
    Other,
}

struct Finder<'a> {
    text: &'a str,
    tokens: &'a Tokens,
    edits: Vec<Edit>,
}

impl Finder<'_> {
    fn body(&mut self, body: &NativeBody, context: BodyContext) {
        for attribute in body.attributes() {
            if context == BodyContext::Variable && &*attribute.name.name == "type" {
                self.variable_type(attribute);
            } else {
                self.value(attribute);
            }
        }
        for block in &body.blocks {
            self.labels(block);
            let context = match context {
                BodyContext::Root if &*block.kind.name == "variable" => BodyContext::Variable,
                _ => BodyContext::Other,
            };
            if let Source::Native(body) = &block.body.source {
                self.body(body, context);
            }
        }
    }

    /// The index of the first token at or after an absolute offset.
    fn token_at(&self, address: u32) -> usize {
        let offset = address.saturating_sub(BASE);
        self.tokens.list.partition_point(|token| token.start < offset)
    }

    fn tokens_of(&self, attribute: &Attribute) -> Range<usize> {
        let span = attribute.expression.span;
        self.token_at(span.start())..self.token_at(span.end())
    }

    fn value(&mut self, attribute: &Attribute) {
        let range = self.tokens_of(attribute);
        // The shortest wrapped expression has five tokens: quote, `${`, a token, `}` and quote.
        if self.tokens.kind(range.start) != TokenKind::OpenQuote
            || self.tokens.kind(range.start + 1) != TokenKind::OpenInterpolation
            || range.len() < 5
            || self.tokens.kind(range.end - 2) != TokenKind::CloseSequence
            || self.tokens.kind(range.end - 1) != TokenKind::CloseQuote
        {
            return;
        }
        // Skip the opening quote and `${`, and the closing brace and quote.
        let inside = range.start + 2..range.end - 2;
        if !self.is_one_expression(inside.clone()) {
            return;
        }
        let not_newline = |index: &usize| self.tokens.kind(*index) != TokenKind::Newline;
        let Some(first) = inside.clone().find(not_newline) else { return };
        let Some(last) = inside.clone().rfind(not_newline) else { return };
        let inner = first..last + 1;
        // Line ends are insignificant inside an interpolation but not in an argument, so a multi-line value needs
        // parentheses.
        let several_lines = inner.clone().any(|index| self.tokens.kind(index) == TokenKind::Newline);
        let in_parentheses = self.tokens.kind(first) == TokenKind::OpenParenthesis
            && self.tokens.kind(last) == TokenKind::CloseParenthesis;
        let wrapping = if several_lines && !in_parentheses { Wrapping::Parentheses } else { Wrapping::Bare };
        self.edits.push(Edit { tokens: range, replacement: Replacement::Inside(inner, wrapping) });
    }

    /// Whether the tokens contain no other sequence or literal text of the same string. Nested strings may contain any.
    fn is_one_expression(&self, inside: Range<usize>) -> bool {
        let mut quotes = 0isize;
        for index in inside {
            match self.tokens.kind(index) {
                TokenKind::OpenQuote => quotes += 1,
                TokenKind::CloseQuote => quotes -= 1,
                TokenKind::OpenInterpolation
                | TokenKind::CloseSequence
                | TokenKind::StripBrace
                | TokenKind::QuotedText
                | TokenKind::EscapedText
                    if quotes <= 0 =>
                {
                    return false;
                }
                _ => {}
            }
        }
        true
    }

    fn variable_type(&mut self, attribute: &Attribute) {
        let (name, element) = match &attribute.expression.kind {
            ExpressionKind::Traversal(traversal) if traversal.steps().is_empty() => match &*traversal.root.name {
                // A keyword without an element type means any element type, and terraform fmt writes that out.
                name @ ("list" | "map" | "set") => (name.to_owned(), Some("any")),
                _ => return,
            },
            ExpressionKind::String(_) => {
                let range = self.tokens_of(attribute);
                let text = self.text.get(self.tokens.range(range.start + 1)).unwrap_or_default();
                match text {
                    "string" => (text.to_owned(), None),
                    // In Terraform 0.11 the elements of these types were strings.
                    "list" | "map" => (text.to_owned(), Some("string")),
                    _ => return,
                }
            }
            _ => return,
        };
        let mut replacement = vec![made(TokenKind::Identifier, &name)];
        if let Some(element) = element {
            replacement.push(made(TokenKind::OpenParenthesis, "("));
            replacement.push(made(TokenKind::Identifier, element));
            replacement.push(made(TokenKind::CloseParenthesis, ")"));
        }
        let tokens = self.tokens_of(attribute);
        self.edits.push(Edit { tokens, replacement: Replacement::Tokens(replacement) });
    }

    fn labels(&mut self, block: &Block) {
        let Some(last) = block.labels.last() else { return };
        let tokens = self.token_at(block.kind.span.end())..self.token_at(last.span.end());
        // terraform fmt quotes all labels, also those that are bare names.
        let mut replacement = Vec::new();
        for label in &block.labels {
            replacement.push(made(TokenKind::OpenQuote, "\""));
            if !label.value.is_empty() {
                let mut text = String::with_capacity(label.value.len());
                write_literal_content(&label.value, &mut text);
                replacement.push(made(TokenKind::QuotedText, &text));
            }
            replacement.push(made(TokenKind::CloseQuote, "\""));
        }
        self.edits.push(Edit { tokens, replacement: Replacement::Tokens(replacement) });
    }
}
