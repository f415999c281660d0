//! Decoding.
use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::Body;
use groma_lang::{Referenced, Scope};
use groma_value::{Path, Value};

use crate::Block;

/// Reads the configuration of one block by its schema.
pub struct BodyDecoder {
    block: Arc<Block>,
    body: Body,
}

impl BodyDecoder {
    /// Checks the structure of `body` once.
    pub fn new(body: &Body, block: &Arc<Block>) -> (Self, Diagnostics) {
        (Self { block: block.clone(), body: body.clone() }, Diagnostics::new())
    }

    /// Everything that its expressions refer to.
    pub fn references(&self) -> Vec<Referenced> {
        Vec::new()
    }

    /// The value in `scope`.
    pub fn evaluate(&self, _scope: &dyn Scope) -> (Value, Diagnostics) {
        (self.block.empty_value().clone(), Diagnostics::new())
    }

    /// The place of the argument that `path` leads to.
    pub fn span_of(&self, _path: &Path) -> Span {
        self.body.span()
    }
}
