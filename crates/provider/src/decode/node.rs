//! The decoded form of a body: expressions and nested blocks by schema slot.

use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::{Expression, Label, Traversal};

use crate::Name;
use crate::schema::{Block, NestedBlock};

/// A body with its arguments and blocks assigned to schema slots. Only filled slots take memory: schemas are large,
/// blocks are many, and most arguments are not set.
pub(super) struct Node {
    pub(super) block: Arc<Block>,
    /// The filled slots with their positions in the schema, in ascending order.
    pub(super) filled: Box<[(usize, SlotNode)]>,
    /// The location for diagnostics about missing arguments.
    pub(super) missing: Span,
}

/// The content of one slot.
pub(super) enum SlotNode {
    Argument(Expression),
    Blocks(Box<Blocks>),
}

/// All blocks of one type.
pub(super) struct Blocks {
    /// The nesting mode and limits, which decide how the blocks combine into one value.
    pub(super) nested: NestedBlock,
    pub(super) entries: Vec<Entry>,
}

/// A static or dynamic block, in source order.
pub(super) enum Entry {
    Static { label: Option<Label>, header: Span, node: Node },
    Dynamic(Box<Dynamic>),
}

/// A `dynamic` block.
pub(super) struct Dynamic {
    /// The name under which the content refers to the current element.
    pub(super) iterator: Name,
    pub(super) for_each: Expression,
    pub(super) label: Option<Expression>,
    /// The body of each generated block.
    pub(super) content: Node,
    /// Structural problems of the content, reported when the block has, or may have, an element.
    pub(super) problems: Diagnostics,
    /// References in the content other than iterators of enclosing dynamic blocks; checked for the first element.
    pub(super) references: Vec<Traversal>,
    /// References in the `for_each` and `labels` arguments of nested dynamic blocks; checked even without elements.
    pub(super) collections: Vec<Traversal>,
    pub(super) header: Span,
}

impl Entry {
    /// Returns the header of a static block.
    pub(super) fn static_header(&self) -> Option<Span> {
        match self {
            Self::Static { header, .. } => Some(*header),
            Self::Dynamic(_) => None,
        }
    }
}
