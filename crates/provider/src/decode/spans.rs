//! Lookup of the source location of a value path (LC-26).

use groma_diagnostics::Span;
use groma_lang::span_within;
use groma_value::{Kind, PathStep, Value};

use super::node::{Blocks, Entry, Node, SlotNode};

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
