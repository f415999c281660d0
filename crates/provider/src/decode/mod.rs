//! From the text of a block to the value that a provider gets (LC-02).

mod dynamic;
mod evaluate;
mod node;
mod places;
mod structure;

use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::Body;
use groma_lang::Scope;
use groma_value::{Path, Value};

use crate::Block;

/// Reads one block by its schema.
///
/// Whatever does not depend on the instance is done once: the structure and the form of the references are checked. What
/// remains for each instance is to evaluate the expressions and convert the results.
pub struct BodyDecoder {
    node: node::Node,
    span: Span,
}

impl BodyDecoder {
    /// Checks the structure of `body`: unknown and missing arguments, the numbers of blocks, references that cannot be
    /// meant. After errors the decoder works as far as the text does.
    pub fn new(body: &Body, block: &Arc<Block>) -> (Self, Diagnostics) {
        Self::beside(body, block, &[])
    }

    /// The same for a body beside which the language has `words` of its own: whoever misspells one of them is told of it.
    pub fn beside(body: &Body, block: &Arc<Block>, words: &'static [&'static str]) -> (Self, Diagnostics) {
        let mut reader = structure::Reader::new();
        let node = reader.root(body, block, words);
        let span = body.missing_item_span();
        (Self { node, span }, reader.diagnostics)
    }

    /// The value in `scope`: arguments that are not set are null, what is set is converted to the schema's type (LC-02).
    /// After errors it is unknown where they are.
    pub fn evaluate(&self, scope: &dyn Scope) -> (Value, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let value = self.node.evaluate(scope, &mut diagnostics);
        (value, diagnostics)
    }

    /// The text that gave the value at `path`; the opening of the block where nothing did (LC-26).
    pub fn span_of(&self, path: &Path) -> Span {
        self.node.span_of(path.steps()).unwrap_or(self.span)
    }

    /// The opening of the block: for what is about none of its arguments.
    pub fn opening(&self) -> Span {
        self.span
    }

    /// The schema it reads by.
    pub fn block(&self) -> &Arc<Block> {
        &self.node.block
    }
}

#[cfg(test)]
mod tests;
