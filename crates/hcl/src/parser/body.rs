//! Bodies: arguments and blocks, one a line.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};

use super::Parser;
use super::scratch::{Mark, Scratch};
use crate::ast::{Ident, Name};
use crate::body::{Attribute, Lines, NativeBody, NativeHead, Own};
use crate::origin::Origin;
use crate::scanner;
use crate::token::TokenKind;

/// A body under construction; its items are on the parser's stacks.
pub(super) struct Items {
    attributes: Mark,
    blocks: Mark,
    /// The hashes of the argument names, which show at once that a name is new.
    looks: Looks,
    /// The positions of arguments, once there are many.
    index: Index,
    /// Whether it was known before where blocks end.
    nesting_known: bool,
}

/// A set of name hashes, 64 bits wide: a name whose bit is unset is new.
#[derive(Clone, Copy, Default)]
struct Looks(u64);

impl Looks {
    fn of(name: &str) -> Self {
        let bytes = name.as_bytes();
        let sum = match bytes {
            [first, .., last] => bytes.len() + 5 * usize::from(*first) + 11 * usize::from(*last),
            _ => 0,
        };
        Self(1 << (sum % 64))
    }

    /// Adds `look`; whether there was none like it.
    fn add(&mut self, look: Self) -> bool {
        let is_new = self.0 & look.0 == 0;
        self.0 |= look.0;
        is_new
    }
}

/// Few bodies need one.
type Index = Option<Box<HashMap<Name, usize>>>;

/// With fewer arguments than this, looking at each of them is the quickest.
const FEW: usize = 16;

fn find<'a>(index: &mut Index, attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    if attributes.len() < FEW {
        return attributes.iter().find(|attribute| *attribute.name.name == *name);
    }
    let index = index.get_or_insert_default();
    for (at, attribute) in attributes.iter().enumerate().skip(index.len()) {
        index.insert(Name::clone(&attribute.name.name), at);
    }
    attributes.get(*index.get(name)?)
}

/// Reads a whole file.
///
/// Most files have no mistakes. They are read in portions, so that the tokens of a large file are not all in memory; a
/// file with a mistake is read again from the start with all its tokens, as finding a place to go on needs. So is a file
/// that is not entirely UTF-8, because the tokens say which of its bytes are in comments.
pub(crate) fn parse_body(text: &str, origin: Origin<'_>) -> (NativeBody, Diagnostics) {
    let is_utf8 = origin.file.is_none_or(|file| file.invalid_bytes().is_empty());
    if is_utf8 && let Some(body) = body_without_mistakes(text, origin) {
        return (body, Diagnostics::new());
    }
    let mut parser = Parser::new(text, origin);
    let body = parser.file_body();
    (body, parser.finish())
}

fn body_without_mistakes(text: &str, origin: Origin<'_>) -> Option<NativeBody> {
    let mut parser = Parser::without_tokens(text, origin);
    let mut items = parser.begin_body();
    let mut portions = scanner::portions(text);
    while parser.load_next(&mut portions) {
        while parser.kind() != TokenKind::End {
            parser.body_line(&mut items);
            if parser.problems > 0 {
                return None;
            }
        }
    }
    Some(parser.end_file_body(items, Own::ALL))
}

impl Parser<'_> {
    /// The body of a whole file. What comes after the place from which it is not known any more where blocks end may belong to one.
    fn file_body(&mut self) -> NativeBody {
        let mut items = self.begin_body();
        let mut own = None;
        while self.kind() != TokenKind::End {
            self.body_line(&mut items);
            if self.nesting_lost && own.is_none() {
                own = Some(self.read_of(&items));
            }
        }
        self.end_file_body(items, own.unwrap_or(Own::ALL))
    }

    pub(super) fn begin_body(&self) -> Items {
        let Scratch { attributes, blocks, .. } = &self.scratch;
        let nesting_known = !self.nesting_lost;
        let (attributes, blocks) = (attributes.mark(), blocks.mark());
        Items { attributes, blocks, looks: Looks::default(), index: None, nesting_known }
    }

    fn end_file_body(&mut self, items: Items, own: Own) -> NativeBody {
        let blocks = self.scratch.blocks.take(items.blocks);
        let head = NativeHead { blocks, span: self.bytes_span(0, self.text.len()), lines: Lines::Several, own };
        NativeBody::new(self.scratch.attributes.drain(items.attributes), head)
    }

    /// The body of a block. If it is not known any more where blocks end, any of it may belong elsewhere.
    pub(super) fn end_block_body(&mut self, items: Items, span: Span, lines: Lines) -> NativeBody {
        let was_lost_inside = items.nesting_known && self.nesting_lost;
        let own = if was_lost_inside { Own::NOTHING } else { Own::ALL };
        let blocks = self.scratch.blocks.take(items.blocks);
        NativeBody::new(self.scratch.attributes.drain(items.attributes), NativeHead { blocks, span, lines, own })
    }

    /// Returns the number of items that certainly belong to the body so far.
    fn read_of(&self, items: &Items) -> Own {
        let Scratch { attributes, blocks, .. } = &self.scratch;
        Own { attributes: attributes.since(items.attributes).len(), blocks: blocks.since(items.blocks).len() }
    }

    /// The body of a block over several lines, after its opening brace `open`, with the closing brace.
    pub(super) fn block_body(&mut self, open: Span) -> Items {
        let mut items = self.begin_body();
        self.blocks += 1;
        while !matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End) {
            self.body_line(&mut items);
        }
        self.blocks -= 1;
        if self.accept(TokenKind::CloseBrace).is_none() {
            self.unclosed_block(open);
        }
        items
    }

    pub(super) fn unclosed_block(&mut self, open: Span) {
        if self.nesting_lost {
            return;
        }
        let detail = "The text ends before a closing brace for this block. If this block looks complete, a brace is \
                      missing or too many in or above it.";
        self.nesting_lost = true;
        self.recovering = false;
        self.syntax_error(Diagnostic::error("Unclosed configuration block", detail).at(open));
    }

    fn body_line(&mut self, items: &mut Items) {
        match self.kind() {
            TokenKind::Newline => {
                self.bump();
            }
            TokenKind::Identifier => self.item(items),
            TokenKind::OpenQuote | TokenKind::OpenParenthesis if self.is_key_outside() => {
                // The brace that closes the object is too many then.
                self.brace_too_many = true;
                self.skip_item();
            }
            TokenKind::OpenQuote if self.is_quoted_name() => self.not_an_item(),
            _ if self.after_problem => self.skip_item(),
            _ => self.not_an_item(),
        }
    }

    /// Whether the string that is next stands where the name of an argument should: a mistake of its own, whatever was before.
    fn is_quoted_name(&self) -> bool {
        let text = usize::from(self.tokens.kind(self.at + 1).is_quoted_text());
        let close = self.at + 1 + text;
        self.tokens.kind(close) == TokenKind::CloseQuote && self.kind_after(close) == TokenKind::Equal
    }

    /// Whether a key of an object begins here, of which the opening brace is missing behind an equals sign, or has been one too many
    /// behind the brace of a block.
    fn is_key_outside(&self) -> bool {
        let before = |back: usize| self.at.checked_sub(back).map(|index| self.tokens.kind(index));
        before(1) == Some(TokenKind::Newline)
            && match before(2) {
                Some(TokenKind::Equal) => true,
                Some(TokenKind::OpenBrace) => before(3) == Some(TokenKind::OpenBrace),
                _ => false,
            }
    }

    #[inline]
    pub(super) fn add_attribute(&mut self, items: &mut Items, attribute: Attribute) {
        if items.looks.add(Looks::of(&attribute.name.name)) || !self.is_redefined(items, &attribute.name) {
            self.scratch.attributes.push(attribute);
        }
    }

    /// Whether the argument name is taken, which is reported.
    fn is_redefined(&mut self, items: &mut Items, name: &Ident) -> bool {
        let attributes = self.scratch.attributes.since(items.attributes);
        let Some(first) = find(&mut items.index, attributes, &name.name) else { return false };
        let place = self.line_of(first.name.span).map(|line| format!(" on line {line}")).unwrap_or_default();
        let detail = format!(
            "The argument \"{}\" has been set already{place}. Each argument may be set once; remove one of the two.",
            name.name
        );
        self.value_error(Diagnostic::error("Attribute redefined", detail).at(name.span));
        true
    }

    fn not_an_item(&mut self) {
        let span = self.next_span();
        match self.kind() {
            TokenKind::OpenQuote => {
                self.brace_too_many = true;
                let detail = "The name of an argument stands without quotes.";
                self.syntax_error(Diagnostic::error("Invalid argument name", detail).at(span));
            }
            TokenKind::CloseBrace if std::mem::take(&mut self.brace_too_many) || self.nesting_lost => {
                self.bump();
                return;
            }
            TokenKind::CloseBrace => {
                let detail = "An argument or block must begin here, but this brace closes nothing. Either it is too \
                              many, or an opening brace is missing before it.";
                self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(span));
                self.nesting_lost = true;
                self.bump();
            }
            opener => {
                let detail = "An argument or block must begin here, with its name.";
                // What closes it may have been meant for something else, and what stands alone for the brace of the block.
                self.nesting_lost |= opener.closer().is_some() || self.is_last_of_line(self.at);
                self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(span));
            }
        }
        self.skip_item();
    }

    /// Whether the token is the last one of its line.
    pub(super) fn is_last_of_line(&self, index: usize) -> bool {
        matches!(self.tokens.kind(index + 1), TokenKind::Newline | TokenKind::End)
    }

    /// The line of `span` for messages, from 1.
    pub(super) fn line_of(&self, span: Span) -> Option<u32> {
        self.origin.file.map(|file| file.position(span.start()).line)
    }
}
