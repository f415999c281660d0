//! Texts that are just a traversal: addresses in arguments such as `depends_on`, and in the JSON syntax.

use groma_diagnostics::{Diagnostic, Span};

use super::{Newlines, Parser};
use crate::ast::{LiteralKey, Step, Traversal};
use crate::token::TokenKind;

impl Parser<'_> {
    /// The traversal that a whole text is.
    pub(crate) fn whole_traversal(&mut self) -> Option<Traversal> {
        self.with_newlines(Newlines::Ignored, Self::traversal)
    }

    fn traversal(&mut self) -> Option<Traversal> {
        let Some(token) = self.accept(TokenKind::Identifier) else {
            let found = self.span(self.at);
            self.syntax_error(Diagnostic::error("Variable name required", "A reference begins with a name.").at(found));
            return None;
        };
        let root = self.ident_of(token);
        let mut traversal = Traversal { span: root.span, root, steps: Vec::new() };
        while self.kind() != TokenKind::End {
            let step = match self.kind() {
                TokenKind::Dot => self.plain_attribute(&traversal),
                TokenKind::OpenBracket => self.plain_index(&traversal),
                _ => self.broken(
                    "Invalid character",
                    "A dot with a name or an index in brackets must come here.",
                    &traversal,
                ),
            }?;
            traversal.span = traversal.span.to(step.span());
            traversal.steps.push(step);
        }
        Some(traversal)
    }

    fn plain_attribute(&mut self, traversal: &Traversal) -> Option<Step> {
        let dot = self.bump();
        let dot = self.span(dot);
        match self.kind() {
            TokenKind::Identifier => {
                let token = self.bump();
                Some(Step::Attribute { name: self.name_of(token), span: dot.to(self.span(token)) })
            }
            TokenKind::Star => self.broken("Attribute name required", "No splat can be used here.", traversal),
            _ => self.broken("Attribute name required", "After a dot comes a name.", traversal),
        }
    }

    fn plain_index(&mut self, traversal: &Traversal) -> Option<Step> {
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
            TokenKind::Star => return self.broken("Attribute name required", "No splat can be used here.", traversal),
            _ => {
                let detail = "Only a number or a string in quotes can be an index here.";
                return self.broken("Index value required", detail, traversal);
            }
        };
        if self.accept(TokenKind::CloseBracket).is_none() {
            return self.broken("Unclosed index brackets", "A closing bracket must follow after the index.", traversal);
        }
        Some(Step::Index { key, span: open.to(self.last_span()) })
    }

    fn broken(&mut self, summary: &str, detail: &str, traversal: &Traversal) -> Option<Step> {
        let found: Span = self.span(self.at);
        self.syntax_error(Diagnostic::error(summary, detail).at(found).within(traversal.span.to(found)));
        None
    }
}
