//! What a body has become once its arguments and blocks are told apart.

use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::{Expression, Label, Traversal};

use crate::Name;
use crate::schema::{Block, NestedBlock};

/// A body whose arguments and blocks have been told apart. Only what is there takes memory: schemas are large, blocks are
/// many, and most arguments are left out.
pub(super) struct Node {
    pub(super) block: Arc<Block>,
    /// What is there, with the position of its slot; ascending.
    pub(super) filled: Box<[(usize, SlotNode)]>,
    /// Where to say that something is missing.
    pub(super) missing: Span,
}

/// What a body holds for one slot.
pub(super) enum SlotNode {
    /// An argument.
    Argument(Expression),
    /// Blocks.
    Blocks(Box<Blocks>),
}

/// All blocks of one kind.
pub(super) struct Blocks {
    /// How they become one value.
    pub(super) nested: NestedBlock,
    pub(super) entries: Vec<Entry>,
}

/// One or more blocks of a kind, in the order of the source.
pub(super) enum Entry {
    /// A block that is written out.
    Static { label: Option<Label>, header: Span, node: Node },
    /// A `dynamic` block.
    Dynamic(Box<Dynamic>),
}

/// A block that makes blocks.
pub(super) struct Dynamic {
    /// The name that the content knows the current element by.
    pub(super) iterator: Name,
    pub(super) for_each: Expression,
    pub(super) label: Option<Expression>,
    /// What each block it makes holds.
    pub(super) content: Node,
    /// What is wrong in the content whatever the values are: told where it is asked for, or may be.
    pub(super) problems: Diagnostics,
    /// What the content refers to beside the elements of this block and of those around it: looked at where there is an element.
    pub(super) named: Vec<Traversal>,
    /// The same of what says which blocks there are inside of an outermost block: looked at whatever there is.
    pub(super) collections: Vec<Traversal>,
    pub(super) header: Span,
}

impl Entry {
    /// Where it begins, if it is one block that is written out.
    pub(super) fn static_header(&self) -> Option<Span> {
        match self {
            Self::Static { header, .. } => Some(*header),
            Self::Dynamic(_) => None,
        }
    }
}
