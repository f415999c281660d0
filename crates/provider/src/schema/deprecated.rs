//! Uses of deprecated attributes and blocks in a value.

use groma_value::{Kind, Path, Value};

use super::paths::walk_nested;
use super::{Block, Deprecation, Item, Nesting};
use crate::trail::Trail;

/// A deprecated part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeprecatedPart<'s> {
    /// The path of the part; the root for the whole object.
    pub path: Path,
    /// The category of the part, for the wording of the warning.
    pub kind: PartKind,
    /// The deprecation of the schema, with its message.
    pub deprecation: &'s Deprecation,
}

/// The category of a deprecated part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The object as a whole.
    Whole,
    /// A single attribute.
    Attribute,
    /// All nested blocks of one type.
    Blocks,
}

impl Block {
    /// Finds the deprecated parts of `value`. Sets are skipped: their elements have no paths that could be reported.
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
