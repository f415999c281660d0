//! Bodies: arguments and blocks, one a line.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Span};

use super::Parser;
use super::item::Item;
use crate::ast::Name;
use crate::body::{Attribute, Block};
use crate::native::NativeBody;
use crate::token::TokenKind;

/// Collects what stands in a body.
#[derive(Default)]
pub(super) struct Items {
    attributes: Vec<Attribute>,
    blocks: Vec<Block>,
    /// Where each argument is, once there are many.
    index: HashMap<Name, usize>,
}

/// With fewer arguments than this, looking at each of them is the quickest.
const FEW: usize = 16;

impl Items {
    fn find(&mut self, name: &str) -> Option<&Attribute> {
        if self.attributes.len() < FEW {
            return self.attributes.iter().find(|attribute| &*attribute.name.name == name);
        }
        for (at, attribute) in self.attributes.iter().enumerate().skip(self.index.len()) {
            self.index.insert(Name::clone(&attribute.name.name), at);
        }
        self.attributes.get(*self.index.get(name)?)
    }

    pub(super) fn into_body(self, span: Span) -> NativeBody {
        NativeBody::new(self.attributes, self.blocks, span)
    }
}

impl Parser<'_> {
    /// The body of a whole file.
    pub(crate) fn file_body(&mut self) -> NativeBody {
        let mut items = Items::default();
        while self.kind() != TokenKind::End {
            self.body_line(&mut items);
        }
        items.into_body(self.bytes_span(0, self.text.len()))
    }

    /// The body of a block over several lines, after its opening brace `open`, with the closing brace.
    pub(super) fn block_body(&mut self, open: usize) -> Items {
        let mut items = Items::default();
        loop {
            match self.kind() {
                TokenKind::CloseBrace => {
                    self.bump();
                    return items;
                }
                TokenKind::End => {
                    self.unclosed_block(open);
                    return items;
                }
                _ => self.body_line(&mut items),
            }
        }
    }

    pub(super) fn unclosed_block(&mut self, open: usize) {
        if self.nesting_lost {
            return;
        }
        let detail = "The text ends before a closing brace for this block. If this block looks complete, a brace is \
                      missing or too many in or above it.";
        let diagnostic = Diagnostic::error("Unclosed configuration block", detail).at(self.span(open));
        self.nesting_lost = true;
        self.recovering = false;
        self.syntax_error(diagnostic);
    }

    fn body_line(&mut self, items: &mut Items) {
        match self.kind() {
            TokenKind::Newline => {
                self.bump();
            }
            TokenKind::Identifier => match self.item() {
                Some(Item::Attribute(attribute)) => self.add_attribute(items, attribute),
                Some(Item::Block(block)) => items.blocks.push(block),
                None => {}
            },
            _ => self.not_an_item(),
        }
    }

    pub(super) fn add_attribute(&mut self, items: &mut Items, attribute: Attribute) {
        let Some(first) = items.find(&attribute.name.name) else {
            items.attributes.push(attribute);
            return;
        };
        let name = &attribute.name.name;
        let place = self.line_of(first.name.span).map(|line| format!(" on line {line}")).unwrap_or_default();
        let detail = format!(
            "The argument \"{name}\" has been set already{place}. Each argument may be set once; remove one of the two."
        );
        self.value_error(Diagnostic::error("Attribute redefined", detail).at(attribute.name.span));
    }

    fn not_an_item(&mut self) {
        let found = self.at;
        let span = self.span(found);
        match self.kind() {
            TokenKind::OpenQuote => {
                let detail = "The name of an argument stands without quotes.";
                self.syntax_error(Diagnostic::error("Invalid argument name", detail).at(span));
            }
            TokenKind::CloseBrace if self.nesting_lost => {
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
            _ => {
                let detail = "An argument or block must begin here, with its name.";
                self.syntax_error(Diagnostic::error("Argument or block definition required", detail).at(span));
            }
        }
        self.skip_item();
    }

    /// The line of `span` for messages, from 1.
    pub(super) fn line_of(&self, span: Span) -> Option<u32> {
        self.origin.file.map(|file| file.position(span.start()).line)
    }
}
