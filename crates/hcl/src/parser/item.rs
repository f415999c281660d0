//! Single arguments and blocks.

use groma_diagnostics::{Diagnostic, Span};

use super::Parser;
use super::body::Items;
use crate::ast::{Expression, Ident, Name};
use crate::body::{Attribute, Block, Body, Label, Lines};
use crate::depth::MAX_BLOCKS;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// Reads the argument or block whose name is next, with its line end, and notes whether it had a problem.
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
                // It may be a header that has lost its brace, and then the one that closes has none either.
                self.nesting_lost |= self.kind() == TokenKind::Newline;
                self.skip_item();
            }
        }
        self.after_problem = self.problems > problems;
    }

    fn neither_argument_nor_block(&mut self, name: &Ident) {
        let detail = format!(
            "This name begins neither an argument nor a block. To set an argument, put an equals sign and a value after \
             it: {} = …",
            name.name
        );
        self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(name.span));
    }

    /// The argument `name`, from its equals sign to the end of its value.
    fn attribute(&mut self, name: Ident) -> Attribute {
        self.bump();
        let problems = self.problems;
        let mut attribute = Attribute { name, expression: self.expression() };
        if self.problems > problems {
            self.reach_to_problem(&mut attribute.expression);
        }
        attribute
    }

    /// Extends a value to problems after its end.
    #[cold]
    fn reach_to_problem(&self, value: &mut Expression) {
        let end = value.span.end().max(self.span_at(self.lost_at).start());
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

    /// The end of the text, or what does not belong behind an argument.
    fn broken_end_of_line(&mut self, attribute: &Attribute) {
        let found = self.next_span();
        match self.kind() {
            TokenKind::End if !self.recovering => return,
            _ if self.recovering => {}
            TokenKind::Comma => {
                let detail = "Arguments stand on lines of their own, without commas between them.";
                let diagnostic = Diagnostic::error("Unexpected comma after argument", detail);
                self.syntax_error(diagnostic.at(found).within(attribute.span().to(found)));
            }
            _ => {
                let detail = "The value of the argument is complete here; what follows must stand on a line of its own. \
                              If it belongs to the value, an operator or a comma is missing.";
                let diagnostic = Diagnostic::error("Missing newline after argument", detail);
                // Where a brace ends the value too early, or follows it, the one meant for that is too many.
                let before = self.tokens.kind(self.after.saturating_sub(1));
                self.brace_too_many |= [before, self.kind()].contains(&TokenKind::CloseBrace);
                self.syntax_error(diagnostic.at(found).within(attribute.span().to(found)));
            }
        }
        self.skip_item();
    }

    /// The label in a string whose closing quote is missing, where it goes on to the brace that opens the block.
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
                    let was_lost = self.nesting_lost;
                    let (value, span) = self.quoted_literal();
                    header = header.to(span);
                    let Some(label) = self.label_with_brace(&value) else {
                        self.scratch.labels.push(Label { value, span });
                        continue;
                    };
                    if !label.is_empty() {
                        self.scratch.labels.push(Label { value: label, span });
                    }
                    (self.nesting_lost, self.recovering) = (was_lost, false);
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
                    self.nesting_lost |= self.kind() == TokenKind::Newline;
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
        // With the brace that should have been there, an argument behind it would be on a line of its own.
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

    /// Whether the opening brace of a block is on the line after its header, as in other languages.
    fn brace_on_next_line(&self) -> bool {
        let mut index = self.at + 1;
        while self.tokens.kind(index) == TokenKind::Comment {
            index += 1;
        }
        self.tokens.kind(index) == TokenKind::OpenBrace
    }

    /// Whether the block whose opening brace was read is closed on the same line.
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

    /// Whether the header continues to a brace at the end of its line after unexpected tokens, which are reported and skipped.
    fn goes_to_brace_at_end_of_line(&mut self, kind: &Ident) -> bool {
        let mut brace = None;
        let mut index = self.at;
        loop {
            match self.tokens.kind(index) {
                TokenKind::Newline | TokenKind::End => break,
                // An argument with a name that is none; what it is set to may be an object.
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
            TokenKind::Equal => {
                "An equals sign belongs to an argument, and an argument has no labels. For a block, leave out the sign."
                    .to_owned()
            }
            TokenKind::Newline => {
                "The opening brace of a block must stand on the same line as its name and labels.".to_owned()
            }
            _ => format!(
                "After the name of the block \"{}\" come labels in quotes and then an opening brace.",
                kind.name
            ),
        };
        self.syntax_error(Diagnostic::error("Invalid block definition", detail).at(found).within(kind.span.to(found)));
    }

    /// Parses the content of a block with the closing brace.
    fn braces(&mut self, kind: &Ident, open: Token) -> Items {
        self.left_over_bracket();
        if self.goes_on_below() { self.block_body(self.span(open)) } else { self.single_line_body(kind, open) }
    }

    /// A bracket right after the opening brace that is one too many: the block goes on below.
    fn left_over_bracket(&mut self) {
        let is_bracket =
            self.kind() != TokenKind::CloseBrace && (self.kind().closes() || self.kind().closer().is_some());
        if is_bracket && self.tokens.kind(self.at + 1) == TokenKind::Newline {
            let detail = "An argument or block must begin here, with its name; this bracket is one too many.";
            let span = self.next_span();
            self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(span));
            self.bump();
            self.recovering = false;
        }
    }

    /// Whether nothing follows the opening brace on its line.
    fn goes_on_below(&self) -> bool {
        matches!(self.kind(), TokenKind::Newline | TokenKind::End | TokenKind::CloseBrace)
    }

    /// The one argument of a block on a single line.
    fn single_line_body(&mut self, kind: &Ident, open: Token) -> Items {
        let mut items = self.begin_body();
        let problems = self.problems;
        if let Some(attribute) = self.single_argument() {
            self.add_attribute(&mut items, attribute);
        }
        if self.accept(TokenKind::CloseBrace).is_some() {
            return items;
        }
        if !self.lost_since(problems) {
            self.broken_single_line(kind, open);
        }
        self.skip_over(TokenKind::CloseBrace);
        items
    }

    fn single_argument(&mut self) -> Option<Attribute> {
        let token = self.next;
        if self.accept(TokenKind::Identifier).is_none() {
            let detail = "An argument must begin here, with its name.";
            self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(self.span(token)));
            return None;
        }
        let name = self.ident_of(token);
        match self.kind() {
            TokenKind::Equal => return Some(self.attribute(name)),
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier => {
                let detail = format!(
                    "A block on a single line holds one argument and nothing else. To set the argument \"{}\", put an \
                     equals sign after its name; to nest a block, give it a line of its own.",
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
                "A block on a single line holds only one argument. For more, give each argument a line of its own, without commas."
            }
            TokenKind::Newline => {
                "A block with an argument on the line of its opening brace must be closed on that line too. Put the \
                 argument on a line of its own, or the closing brace right after it."
            }
            _ => "After its one argument, a block on a single line must be closed.",
        };
        let diagnostic = Diagnostic::error("Invalid single-argument block definition", detail);
        self.syntax_error(diagnostic.at(found).within(kind.span.to(found)));
    }

    /// The line with the brace that ended a block in which there was a mistake. It may have been meant for something else: what follows
    /// it is no further mistake, and brackets say that the block goes on.
    fn end_of_broken_block(&mut self) {
        if self.kind() != TokenKind::End {
            self.nesting_lost |= self.kind().closes();
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
                let detail =
                    format!("The block \"{}\" ends here; what follows must stand on a line of its own.", kind.name);
                let diagnostic = Diagnostic::error("Missing newline after block definition", detail);
                self.brace_too_many = true;
                // The brace replaces a name and the block continues; or another brace opens something that nothing closes.
                self.nesting_lost |= self.kind() == TokenKind::Equal || self.kind().closer().is_some();
                self.syntax_error(diagnostic.at(found).within(braces.to(found)));
                self.skip_item();
            }
        }
    }
}
