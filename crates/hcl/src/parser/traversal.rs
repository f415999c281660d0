//! Texts that consist of one traversal: addresses in arguments such as `depends_on`, and references in JSON.

use groma_diagnostics::{Diagnostic, Span};

use super::{Newlines, Parser};
use crate::ast::{LiteralKey, Step, Traversal};
use crate::token::TokenKind;

impl Parser<'_> {
    /// Parses the whole text as a traversal.
    pub(crate) fn whole_traversal(&mut self) -> Option<Traversal> {
        self.with_newlines(Newlines::Ignored, Self::traversal)
    }

    fn traversal(&mut self) -> Option<Traversal> {
        let Some(token) = self.accept(TokenKind::Identifier) else {
            let found = self.next_span();
            self.syntax_error(
                Diagnostic::error("Variable name required", "A reference must begin with a name.").at(found),
            );
            return None;
        };
        let root = self.ident_of(token);
        let mut steps = Vec::new();
        let mut span = root.span;
        while self.kind() != TokenKind::End {
            let step = match self.kind() {
                TokenKind::Dot => self.plain_attribute(span),
                TokenKind::OpenBracket => self.plain_index(span),
                _ => self.broken(
                    "Invalid character",
                    "Expected an attribute name after a dot, or an index in brackets.",
                    span,
                ),
            }?;
            span = span.to(step.span());
            steps.push(step);
        }
        Some(Traversal::new(root, steps, span))
    }

    fn plain_attribute(&mut self, so_far: Span) -> Option<Step> {
        let dot = self.bump();
        let dot = self.span(dot);
        match self.kind() {
            TokenKind::Identifier => {
                let token = self.bump();
                Some(Step::Attribute { name: self.name_of(token), span: dot.to(self.span(token)) })
            }
            TokenKind::Star => self.broken("Attribute name required", "Splat operators are not allowed here.", so_far),
            _ => self.broken("Attribute name required", "Expected a name after the dot.", so_far),
        }
    }

    fn plain_index(&mut self, so_far: Span) -> Option<Step> {
        let open = self.bump();
        let open = self.span(open);
        let key = match self.kind() {
            TokenKind::Number => {
                let token = self.bump();
                LiteralKey::Number(self.name_of(token))
            }
            TokenKind::OpenQuote => {
                let problems = self.problems;
                let (text, _) = self.quoted_literal();
                if self.problems > problems {
                    return None;
                }
                LiteralKey::String(text)
            }
            TokenKind::Star => {
                return self.broken("Attribute name required", "Splat operators are not allowed here.", so_far);
            }
            _ => {
                let detail = "An index must be a number or a quoted string here.";
                return self.broken("Index value required", detail, so_far);
            }
        };
        if self.accept(TokenKind::CloseBracket).is_none() {
            return self.broken("Unclosed index brackets", "Expected a closing bracket after the index.", so_far);
        }
        Some(Step::Index { key, span: open.to(self.last_span()) })
    }

    fn broken(&mut self, summary: &str, detail: &str, so_far: Span) -> Option<Step> {
        let found: Span = self.next_span();
        self.syntax_error(Diagnostic::error(summary, detail).at(found).within(so_far.to(found)));
        None
    }
}
