//! Decoding of configuration blocks into the values that providers receive (LC-02).

mod dynamic;
mod evaluate;
mod node;
mod structure;

use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::Body;
use groma_lang::Scope;
use groma_value::{Path, Value};

use crate::Block;

/// A configuration block decoded by its schema.
///
/// Construction does all work that is independent of the instance: it checks the structure and the syntax of the
/// references. Per instance, only the expressions are evaluated and their results converted.
pub struct BodyDecoder {
    node: node::Node,
    span: Span,
}

impl BodyDecoder {
    /// Checks the structure of `body`: unknown and missing arguments, the number of blocks, invalid references. After
    /// errors the decoder works with the valid parts.
    pub fn new(body: &Body, block: &Arc<Block>) -> (Self, Diagnostics) {
        Self::with_meta_arguments(body, block, &[])
    }

    /// Decodes a body that may also contain `meta_arguments`, which "did you mean" suggestions then consider.
    pub fn with_meta_arguments(
        body: &Body,
        block: &Arc<Block>,
        meta_arguments: &'static [&'static str],
    ) -> (Self, Diagnostics) {
        let mut reader = structure::Reader::new();
        let node = reader.root(body, block, meta_arguments);
        let span = body.missing_item_span();
        (Self { node, span }, reader.diagnostics)
    }

    /// Evaluates the body in `scope`. Arguments that are not set are null, the others are converted to the schema's
    /// types (LC-02). Arguments with errors are unknown.
    pub fn evaluate(&self, scope: &dyn Scope) -> (Value, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let value = self.node.evaluate(scope, &mut diagnostics);
        (value, diagnostics)
    }

    /// Returns the source of the value at `path`, or the header of the block if nothing set the value (LC-26).
    pub fn span_of(&self, path: &Path) -> Span {
        self.node.span_of(path.steps()).unwrap_or(self.span)
    }

    /// Returns the header of the block, for diagnostics that concern no particular argument.
    pub fn opening(&self) -> Span {
        self.span
    }

    /// Returns the schema that the body was decoded by.
    pub fn block(&self) -> &Arc<Block> {
        &self.node.block
    }
}

#[cfg(test)]
mod tests;
