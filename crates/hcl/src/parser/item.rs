//! Parsing of individual arguments and blocks.

use groma_diagnostics::{Diagnostic, Span};

use super::Parser;
use super::body::Items;
use crate::ast::{Expression, Ident, Name};
use crate::body::{Attribute, Block, Body, Label, Lines};
use crate::depth::MAX_BLOCKS;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// Parses the argument or block whose name is next, including its line end, and records whether it had a problem.
    pub(super) fn item(&mut self, items: &mut Items) {
        let problems = self.problems;
        let token = self.bump();
        let name = self.ident_of(token);
        match self.kind() {
            TokenKind::Equal => {
                let attribute = self.attribute(name);
                self.end_of_line(&attribute);
                self.after_problem = self.problems > problems;
                self.add_attribute(items, attribute);
                return;
            }
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier => {
                let block = self.block(name);
                self.scratch.blocks.push(block);
            }
            _ => {
                self.neither_argument_nor_block(&name);
                // It may be a block header without its brace, whose closing brace will be unmatched.
                self.nesting_unknown |= self.kind() == TokenKind::Newline;
                self.skip_item();
            }
        }
        self.after_problem = self.problems > problems;
    }

    fn neither_argument_nor_block(&mut self, name: &Ident) {
        let detail = format!(
            "Expected an argument or block after this name. To set an argument, write an equals sign and a value: \
             {} = …",
            name.name
        );
        self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(name.span));
    }

    /// Parses an argument from its equals sign to the end of its value.
    fn attribute(&mut self, name: Ident) -> Attribute {
        self.bump();
        let problems = self.problems;
        let mut attribute = Attribute { name, expression: self.expression() };
        if self.problems > problems {
            self.extend_to_error(&mut attribute.expression);
        }
        attribute
    }

    /// Extends the span of an invalid value up to the token where its error was found.
    #[cold]
    fn extend_to_error(&self, value: &mut Expression) {
        let end = value.span.end().max(self.span_at(self.failed_at).start());
        value.span = Span::new(value.span.start(), end);
    }

    #[inline]
    fn end_of_line(&mut self, attribute: &Attribute) {
        if self.kind() == TokenKind::Newline && !self.recovering {
            self.bump();
        } else {
            self.broken_end_of_line(attribute);
        }
    }

    /// Handles the end of the file, or an unexpected token after an argument.
    fn broken_end_of_line(&mut self, attribute: &Attribute) {
        let found = self.next_span();
        match self.kind() {
            TokenKind::End if !self.recovering => return,
            _ if self.recovering => {}
            TokenKind::Comma => {
                let detail = "Arguments are separated by line breaks, not by commas.";
                let diagnostic = Diagnostic::error("Unexpected comma after argument", detail);
                self.syntax_error(diagnostic.at(found).within(attribute.span().to(found)));
            }
            _ => {
                let detail = "Expected a line break after the argument's value. If the rest of the line belongs to the value, an \
                              operator or a comma is missing.";
                let diagnostic = Diagnostic::error("Missing newline after argument", detail);
                // If a brace ended the value too early or follows it, the intended closing brace will be unmatched.
                let before = self.tokens.kind(self.after.saturating_sub(1));
                self.brace_too_many |= [before, self.kind()].contains(&TokenKind::CloseBrace);
                self.syntax_error(diagnostic.at(found).within(attribute.span().to(found)));
            }
        }
        self.skip_item();
    }

    /// Returns the label of a string without closing quote that extends over the opening brace of the block.
    fn label_with_brace(&mut self, text: &str) -> Option<Name> {
        let label = if self.recovering { text.trim_end().strip_suffix('{')? } else { return None };
        Some(self.names.share_text(label.trim_end()))
    }

    fn block(&mut self, kind: Ident) -> Block {
        let labels = self.scratch.labels.mark();
        let mut header = kind.span;
        let mut is_brace_below = false;
        let open = loop {
            match self.kind() {
                TokenKind::OpenBrace => break self.bump(),
                TokenKind::OpenQuote => {
                    let was_unknown = self.nesting_unknown;
                    let (value, span) = self.quoted_literal();
                    header = header.to(span);
                    let Some(label) = self.label_with_brace(&value) else {
                        self.scratch.labels.push(Label { value, span });
                        continue;
                    };
                    if !label.is_empty() {
                        self.scratch.labels.push(Label { value: label, span });
                    }
                    (self.nesting_unknown, self.recovering) = (was_unknown, false);
                    break self.tokens.at(self.at - 1);
                }
                TokenKind::Identifier => {
                    let token = self.bump();
                    let label = self.ident_of(token);
                    header = header.to(label.span);
                    self.scratch.labels.push(Label { value: label.name, span: label.span });
                }
                TokenKind::Newline if self.brace_on_next_line() => {
                    self.broken_header(&kind);
                    self.bump();
                    self.recovering = false;
                    is_brace_below = true;
                }
                _ if self.goes_to_brace_at_end_of_line(&kind) => {}
                _ => {
                    self.broken_header(&kind);
                    self.nesting_unknown |= self.kind() == TokenKind::Newline;
                    self.brace_too_many |= self.kind() == TokenKind::Equal;
                    self.skip_item();
                    let items = self.begin_body();
                    let body = self.end_block_body(items, header, Lines::Several);
                    let labels = self.scratch.labels.take(labels);
                    return Block { kind, labels, body: Body::from_native(body), header, span: header };
                }
            }
        };
        let labels = self.scratch.labels.take(labels);
        let problems = self.problems;
        let lines = if self.goes_on_below() { Lines::Several } else { Lines::One };
        // With the brace on the header line, an argument after it would have been on a line of its own.
        let goes_on = is_brace_below && !self.closes_on_line();
        let braces = |parser: &mut Self| match goes_on {
            true => parser.block_body(parser.span(open)),
            false => parser.braces(&kind, open),
        };
        let items = match self.nested_up_to(MAX_BLOCKS, braces) {
            Some(items) => items,
            None => self.begin_body(),
        };
        let braces = self.span(open).to(self.last_span());
        if self.problems > problems && self.kind() != TokenKind::Newline {
            self.end_of_broken_block();
        } else {
            self.end_of_block(&kind, braces);
        }
        let body = Body::from_native(self.end_block_body(items, braces, lines));
        let span = kind.span.to(braces);
        Block { kind, labels, body, header, span }
    }

    /// Whether the opening brace is on the line after the header, as in other languages.
    fn brace_on_next_line(&self) -> bool {
        let mut index = self.at + 1;
        while self.tokens.kind(index) == TokenKind::Comment {
            index += 1;
        }
        self.tokens.kind(index) == TokenKind::OpenBrace
    }

    /// Whether the block whose opening brace was consumed is closed on the same line.
    fn closes_on_line(&self) -> bool {
        let mut open = 1;
        let mut index = self.at;
        loop {
            match self.tokens.kind(index) {
                TokenKind::Newline | TokenKind::End => return false,
                TokenKind::OpenBrace => open += 1,
                TokenKind::CloseBrace if open == 1 => return true,
                TokenKind::CloseBrace => open -= 1,
                _ => {}
            }
            index += 1;
        }
    }

    /// Recovers to an opening brace at the end of the header line. Reports the unexpected tokens before it and skips
    /// them.
    fn goes_to_brace_at_end_of_line(&mut self, kind: &Ident) -> bool {
        let mut brace = None;
        let mut index = self.at;
        loop {
            match self.tokens.kind(index) {
                TokenKind::Newline | TokenKind::End => break,
                // An argument with an invalid name. Its value may be an object, so the brace need not open a block.
                TokenKind::Equal => return false,
                TokenKind::Comment => {}
                TokenKind::OpenBrace => brace = Some(index),
                _ => brace = None,
            }
            index += 1;
        }
        let Some(brace) = brace else { return false };
        self.broken_header(kind);
        self.go_to(brace);
        self.recovering = false;
        true
    }

    fn broken_header(&mut self, kind: &Ident) {
        let found = self.next_span();
        let detail = match self.kind() {
            TokenKind::Equal => "An argument cannot have labels. To define a block, remove the equals sign.".to_owned(),
            TokenKind::Newline => {
                "The opening brace of a block must be on the same line as its type and labels.".to_owned()
            }
            _ => format!("Expected quoted labels or an opening brace after the block type \"{}\".", kind.name),
        };
        self.syntax_error(Diagnostic::error("Invalid block definition", detail).at(found).within(kind.span.to(found)));
    }

    /// Parses the content between the braces of a block, including the closing brace.
    fn braces(&mut self, kind: &Ident, open: Token) -> Items {
        self.extra_bracket();
        if self.goes_on_below() { self.block_body(self.span(open)) } else { self.single_line_body(kind, open) }
    }

    /// Skips an extra bracket right after the opening brace of a multi-line block.
    fn extra_bracket(&mut self) {
        let is_bracket =
            self.kind() != TokenKind::CloseBrace && (self.kind().closes() || self.kind().closer().is_some());
        if is_bracket && self.tokens.kind(self.at + 1) == TokenKind::Newline {
            let detail = "Expected an argument or block, but found an extra bracket. Remove it.";
            let span = self.next_span();
            self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(span));
            self.bump();
            self.recovering = false;
        }
    }

    /// Whether the line ends after the opening brace, which was consumed.
    fn goes_on_below(&self) -> bool {
        matches!(self.kind(), TokenKind::Newline | TokenKind::End | TokenKind::CloseBrace)
    }

    /// Parses the only argument of a single-line block.
    fn single_line_body(&mut self, kind: &Ident, open: Token) -> Items {
        let mut items = self.begin_body();
        let problems = self.problems;
        if let Some(attribute) = self.single_argument() {
            self.add_attribute(&mut items, attribute);
        }
        if self.accept(TokenKind::CloseBrace).is_some() {
            return items;
        }
        if !self.failed_since(problems) {
            self.broken_single_line(kind, open);
        }
        self.skip_over(TokenKind::CloseBrace);
        items
    }

    fn single_argument(&mut self) -> Option<Attribute> {
        let token = self.next;
        if self.accept(TokenKind::Identifier).is_none() {
            let detail = "Expected an argument, which begins with its name.";
            self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(self.span(token)));
            return None;
        }
        let name = self.ident_of(token);
        match self.kind() {
            TokenKind::Equal => return Some(self.attribute(name)),
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier => {
                let detail = format!(
                    "A single-line block can contain only one argument. To set the argument \"{}\", add an equals sign \
                     after its name; to nest a block, put it on a line of its own.",
                    name.name
                );
                let subject = name.span.to(self.next_span());
                self.syntax_error(Diagnostic::error("Argument definition required", detail).at(subject));
            }
            _ => self.neither_argument_nor_block(&name),
        }
        None
    }

    fn broken_single_line(&mut self, kind: &Ident, open: Token) {
        let found = self.next_span();
        let detail = match self.kind() {
            TokenKind::End => {
                self.unclosed_block(self.span(open));
                return;
            }
            TokenKind::Comma => {
                "A single-line block can contain only one argument. For more, put each argument on its own line, without commas."
            }
            TokenKind::Newline => {
                "A block with an argument on the line of its opening brace must be closed on the same line. Put the \
                 argument on its own line, or the closing brace right after it."
            }
            _ => "Expected a closing brace after the only argument of a single-line block.",
        };
        let diagnostic = Diagnostic::error("Invalid single-argument block definition", detail);
        self.syntax_error(diagnostic.at(found).within(kind.span.to(found)));
    }

    /// Ends a block in which there was an error. Its closing brace may have been meant for an inner bracket, so the
    /// rest of the line is skipped without further reports, and another closing bracket means that the block continues.
    fn end_of_broken_block(&mut self) {
        if self.kind() != TokenKind::End {
            self.nesting_unknown |= self.kind().closes();
            self.skip_item();
        }
    }

    fn end_of_block(&mut self, kind: &Ident, braces: Span) {
        match self.kind() {
            TokenKind::Newline if !self.recovering => {
                self.bump();
            }
            TokenKind::End => {}
            _ if self.recovering => self.skip_item(),
            _ => {
                let found = self.next_span();
                let detail = format!("Expected a line break after the closing brace of the \"{}\" block.", kind.name);
                let diagnostic = Diagnostic::error("Missing newline after block definition", detail);
                self.brace_too_many = true;
                // The brace was written for a name and the block continues, or another bracket opens without being
                // closed.
                self.nesting_unknown |= self.kind() == TokenKind::Equal || self.kind().closer().is_some();
                self.syntax_error(diagnostic.at(found).within(braces.to(found)));
                self.skip_item();
            }
        }
    }
}
