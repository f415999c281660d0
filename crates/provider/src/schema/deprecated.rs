//! What about an object should no longer be used, by its schema.

use groma_value::{Kind, Path, Value};

use super::paths::walk_nested;
use super::{Block, Deprecation, Item, Nesting};
use crate::trail::Trail;

/// A part of an object that should no longer be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeprecatedPart<'s> {
    /// Where it is; the root for the object as a whole.
    pub path: Path,
    /// What it is.
    pub kind: PartKind,
    /// What to use instead.
    pub deprecation: &'s Deprecation,
}

/// What a part of an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The object as a whole.
    Whole,
    /// An attribute.
    Attribute,
    /// Nested blocks of a kind.
    Blocks,
}

impl Block {
    /// The parts of `value` that should no longer be used. Elements of sets have no place of their own, so that nothing is found in them.
    pub fn deprecated_parts(&self, value: &Value) -> Vec<DeprecatedPart<'_>> {
        let whole = self.deprecation();
        let whole = whole.map(|deprecation| DeprecatedPart { path: Path::root(), kind: PartKind::Whole, deprecation });
        let mut found: Vec<_> = whole.into_iter().collect();
        collect(self, value, &Trail::ROOT, &mut found);
        found
    }
}

fn collect<'s>(block: &'s Block, value: &Value, trail: &Trail<'_>, found: &mut Vec<DeprecatedPart<'s>>) {
    let Kind::Object(object) = value.kind() else { return };
    for (slot, value) in block.slots().iter().zip(object.values()) {
        let trail = trail.attribute(&slot.name);
        let (kind, deprecation) = match &slot.item {
            Item::Attribute(attribute) => (PartKind::Attribute, attribute.deprecation()),
            Item::Block(blocks) => (PartKind::Blocks, blocks.block().deprecation()),
        };
        if let Some(deprecation) = deprecation {
            found.push(DeprecatedPart { path: trail.path(), kind, deprecation });
            continue;
        }
        if let Some((nesting, block)) = slot.item.nested().filter(|(_, block)| block.contains_deprecated())
            && nesting != Nesting::Set
        {
            walk_nested(nesting, value, &trail, &mut |value, trail| collect(block, value, trail, found));
        }
    }
}
