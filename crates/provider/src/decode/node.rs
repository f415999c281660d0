//! The decoded form of a body: expressions and nested blocks by schema slot.

use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::{Expression, Label, Traversal};
use groma_lang::span_within;
use groma_value::{Kind, PathStep, Value};

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

impl Node {
    /// Returns the source at `steps`, or the nearest enclosing source.
    pub(super) fn span_of(&self, steps: &[PathStep]) -> Option<Span> {
        let (PathStep::Attribute(name), rest) = steps.split_first()? else { return None };
        let position = self.block.shape().position(name)?;
        let at = self.filled.binary_search_by_key(&position, |(position, _)| *position);
        match at.ok().and_then(|at| self.filled.get(at)) {
            None => Some(self.missing),
            Some((_, SlotNode::Argument(expression))) => Some(span_within(expression, rest)),
            Some((_, SlotNode::Blocks(blocks))) => blocks.span_of(rest),
        }
    }
}

impl Blocks {
    fn span_of(&self, steps: &[PathStep]) -> Option<Span> {
        let (entry, rest) = match steps.split_first() {
            Some((PathStep::Index(key), rest)) => (self.entry(key), rest),
            _ => (self.entries.first(), steps),
        };
        let (header, node) = match entry? {
            Entry::Static { header, node, .. } => (*header, node),
            Entry::Dynamic(dynamic) => (dynamic.header, &dynamic.content),
        };
        Some(node.span_of(rest).unwrap_or(header))
    }

    /// Finds the block with this index or label. A dynamic block matches all indexes from its position on.
    fn entry(&self, key: &Value) -> Option<&Entry> {
        let is_dynamic = |entry: &&Entry| matches!(entry, Entry::Dynamic(_));
        match key.kind() {
            Kind::Number(position) => {
                let position = usize::try_from(position.to_u64()?).ok()?;
                let mut before = self.entries.iter().take(position.saturating_add(1));
                before.find(is_dynamic).or_else(|| self.entries.get(position)).or_else(|| self.entries.last())
            }
            Kind::String(label) => {
                let labelled = |entry: &&Entry| match entry {
                    Entry::Static { label: Some(own), .. } => own.value == *label,
                    _ => false,
                };
                self.entries.iter().find(labelled).or_else(|| self.entries.iter().find(is_dynamic))
            }
            // Set elements have no usable index; the first block is exact if it is the only one.
            _ => self.entries.first(),
        }
    }
}
