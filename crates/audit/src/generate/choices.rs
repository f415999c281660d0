//! The optional parts of a configuration.

use groma_provider::{Block, Item, Nesting, Slot, Use};

/// The nesting depth up to which optional arguments are tried individually.
const MAX_DEPTH: usize = 4;

/// Whether a configuration can set the attribute or block.
pub(super) fn is_argument(slot: &Slot) -> bool {
    match &slot.item {
        Item::Attribute(attribute) => attribute.usage() != Use::Computed,
        Item::Block(nested) => nested.nesting() != Nesting::Group || nested.block().slots().iter().any(is_argument),
    }
}

/// Whether a configuration can both set and omit the attribute or block.
pub(super) fn is_choice(slot: &Slot) -> bool {
    match &slot.item {
        Item::Attribute(attribute) => attribute.usage().is_optional(),
        Item::Block(nested) => nested.min() == 0 && nested.nesting() != Nesting::Group,
    }
}

/// Returns the paths of all optional arguments, including nested ones, as slot positions from the outside in. Outer
/// arguments precede inner ones.
pub(super) fn choices(block: &Block) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut level = vec![(Vec::new(), block)];
    for _ in 0..MAX_DEPTH {
        let mut inner = Vec::new();
        for (path, block) in level {
            for (position, slot) in block.slots().iter().enumerate().filter(|(_, slot)| is_argument(slot)) {
                let path: Vec<usize> = path.iter().copied().chain([position]).collect();
                inner.extend(slot.item.nested().map(|(_, block)| (path.clone(), &**block)));
                found.extend(is_choice(slot).then_some(path));
            }
        }
        level = inner;
    }
    found
}
