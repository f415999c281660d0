//! Bodies: arguments and blocks, one per line.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};

use super::Parser;
use super::scratch::{Mark, Scratch};
use crate::ast::{Ident, Name};
use crate::body::{Attribute, CertainItems, Lines, NativeBody, NativeHead};
use crate::encoding::Origin;
use crate::scanner;
use crate::token::TokenKind;

/// A body under construction; its items are on the parser's stacks.
pub(super) struct Items {
    attributes: Mark,
    blocks: Mark,
    /// A filter of the argument names so far, which proves most names new without a search.
    names: NameFilter,
    /// The position of each argument by name, built only for many arguments.
    index: Index,
    /// Whether braces matched so far when the body began.
    nesting_was_known: bool,
}

/// A one-word Bloom filter for names: a name whose bit is not set is certainly not included.
#[derive(Clone, Copy, Default)]
struct NameFilter(u64);

impl NameFilter {
    fn of(name: &str) -> Self {
        let bytes = name.as_bytes();
        let sum = match bytes {
            [first, .., last] => bytes.len() + 5 * usize::from(*first) + 11 * usize::from(*last),
            _ => 0,
        };
        Self(1 << (sum % 64))
    }

    /// Adds a name. Returns whether it is certainly new.
    fn add(&mut self, name: Self) -> bool {
        let is_new = self.0 & name.0 == 0;
        self.0 |= name.0;
        is_new
    }
}

// Boxed, because few bodies need an index.
type Index = Option<Box<HashMap<Name, usize>>>;

/// The number of arguments below which a linear search is fastest.
const FEW: usize = 16;

fn find<'a>(index: &mut Index, attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    if attributes.len() < FEW {
        return attributes.iter().find(|attribute| *attribute.name.name == *name);
    }
    let index = index.get_or_insert_default();
    // Only the arguments since the last lookup are missing from the index.
    for (at, attribute) in attributes.iter().enumerate().skip(index.len()) {
        index.insert(Name::clone(&attribute.name.name), at);
    }
    attributes.get(*index.get(name)?)
}

/// Parses a whole file.
///
/// Most files have no errors. They are scanned in portions, so that the tokens of a large file are never all in memory.
/// On an error the file is parsed again with all tokens, because recovery needs lookahead. So is a file with invalid
/// UTF-8, because the complete token list tells which bytes are in comments.
pub(crate) fn parse_body(text: &str, origin: Origin<'_>) -> (NativeBody, Diagnostics) {
    let is_utf8 = origin.file.is_none_or(|file| file.invalid_bytes().is_empty());
    if is_utf8 && let Some(body) = body_without_errors(text, origin) {
        return (body, Diagnostics::new());
    }
    let mut parser = Parser::new(text, origin);
    let body = parser.file_body();
    (body, parser.finish())
}

fn body_without_errors(text: &str, origin: Origin<'_>) -> Option<NativeBody> {
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
    Some(parser.end_file_body(items, CertainItems::ALL))
}

impl Parser<'_> {
    /// Parses the body of a whole file. Items after an unmatched brace may belong to an unclosed block.
    fn file_body(&mut self) -> NativeBody {
        let mut items = self.begin_body();
        let mut certain = None;
        while self.kind() != TokenKind::End {
            self.body_line(&mut items);
            if self.nesting_unknown && certain.is_none() {
                certain = Some(self.read_of(&items));
            }
        }
        self.end_file_body(items, certain.unwrap_or(CertainItems::ALL))
    }

    pub(super) fn begin_body(&self) -> Items {
        let Scratch { attributes, blocks, .. } = &self.scratch;
        let nesting_was_known = !self.nesting_unknown;
        let (attributes, blocks) = (attributes.mark(), blocks.mark());
        Items { attributes, blocks, names: NameFilter::default(), index: None, nesting_was_known }
    }

    fn end_file_body(&mut self, items: Items, certain: CertainItems) -> NativeBody {
        let blocks = self.scratch.blocks.take(items.blocks);
        let head = NativeHead { blocks, span: self.bytes_span(0, self.text.len()), lines: Lines::Several, certain };
        NativeBody::new(self.scratch.attributes.drain(items.attributes), head)
    }

    /// Ends the body of a block. If braces did not match inside, any of its items may belong elsewhere.
    pub(super) fn end_block_body(&mut self, items: Items, span: Span, lines: Lines) -> NativeBody {
        let mismatched_inside = items.nesting_was_known && self.nesting_unknown;
        let certain = if mismatched_inside { CertainItems::NOTHING } else { CertainItems::ALL };
        let blocks = self.scratch.blocks.take(items.blocks);
        NativeBody::new(self.scratch.attributes.drain(items.attributes), NativeHead { blocks, span, lines, certain })
    }

    /// The number of items parsed so far.
    fn read_of(&self, items: &Items) -> CertainItems {
        let Scratch { attributes, blocks, .. } = &self.scratch;
        CertainItems { attributes: attributes.since(items.attributes).len(), blocks: blocks.since(items.blocks).len() }
    }

    /// Parses a multi-line block body after its opening brace `open`, including the closing brace.
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
        // After a brace mismatch, an unclosed block is most likely its consequence.
        if self.nesting_unknown {
            return;
        }
        let detail = "This block has no closing brace before the end of the file. If it looks complete, a brace is missing \
                      or extra in it or above it.";
        self.nesting_unknown = true;
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
                // The closing brace of that object will then be unmatched.
                self.brace_too_many = true;
                self.skip_item();
            }
            TokenKind::OpenQuote if self.is_quoted_name() => self.not_an_item(),
            _ if self.after_problem => self.skip_item(),
            _ => self.not_an_item(),
        }
    }

    /// Whether a quoted argument name comes next, which is an error of its own even after another one.
    fn is_quoted_name(&self) -> bool {
        let text = usize::from(self.tokens.kind(self.at + 1).is_quoted_text());
        let close = self.at + 1 + text;
        self.tokens.kind(close) == TokenKind::CloseQuote && self.kind_after(close) == TokenKind::Equal
    }

    /// Whether an object key begins here although no object is open: the opening brace is missing after an equals sign,
    /// or an extra one follows the brace of a block.
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
        if items.names.add(NameFilter::of(&attribute.name.name)) || !self.is_redefined(items, &attribute.name) {
            self.scratch.attributes.push(attribute);
        }
    }

    /// Reports an argument whose name is already taken, and returns whether it is.
    fn is_redefined(&mut self, items: &mut Items, name: &Ident) -> bool {
        let attributes = self.scratch.attributes.since(items.attributes);
        let Some(first) = find(&mut items.index, attributes, &name.name) else { return false };
        let location = self.line_of(first.name.span).map(|line| format!(" on line {line}")).unwrap_or_default();
        let detail =
            format!("The argument \"{}\" is already set{location}. Each argument may be set only once.", name.name);
        self.value_error(Diagnostic::error("Attribute redefined", detail).at(name.span));
        true
    }

    fn not_an_item(&mut self) {
        let span = self.next_span();
        match self.kind() {
            TokenKind::OpenQuote => {
                self.brace_too_many = true;
                let detail = "Argument names must not be quoted.";
                self.syntax_error(Diagnostic::error("Invalid argument name", detail).at(span));
            }
            TokenKind::CloseBrace if std::mem::take(&mut self.brace_too_many) || self.nesting_unknown => {
                self.bump();
                return;
            }
            TokenKind::CloseBrace => {
                let detail = "Expected an argument or block, but found a closing brace that matches nothing. Either it is \
                              extra, or an opening brace is missing before it.";
                self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(span));
                self.nesting_unknown = true;
                self.bump();
            }
            opener => {
                let detail = "Expected an argument or block, which begins with its name.";
                // A bracket may have been meant as the brace of a block, and so may a single token on a line of its
                // own.
                self.nesting_unknown |= opener.closer().is_some() || self.is_last_of_line(self.at);
                self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(span));
            }
        }
        self.skip_item();
    }

    /// Whether the token is the last one on its line.
    pub(super) fn is_last_of_line(&self, index: usize) -> bool {
        matches!(self.tokens.kind(index + 1), TokenKind::Newline | TokenKind::End)
    }

    /// The 1-based line of `span`, for messages.
    pub(super) fn line_of(&self, span: Span) -> Option<u32> {
        self.origin.file.map(|file| file.position(span.start()).line)
    }
}
