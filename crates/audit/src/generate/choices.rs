//! Where an author has a choice.

use groma_provider::{Block, Item, Nesting, Slot, Use};

/// Deeper than this no single arguments are tried.
const DEEPEST: usize = 4;

/// Whether an author can write it.
pub(super) fn is_argument(slot: &Slot) -> bool {
    match &slot.item {
        Item::Attribute(attribute) => attribute.usage() != Use::Computed,
        Item::Block(nested) => nested.nesting() != Nesting::Group || nested.block().slots().iter().any(is_argument),
    }
}

/// Whether an author can write it or leave it out.
pub(super) fn is_choice(slot: &Slot) -> bool {
    match &slot.item {
        Item::Attribute(attribute) => attribute.usage().is_optional(),
        Item::Block(nested) => nested.min() == 0 && nested.nesting() != Nesting::Group,
    }
}

/// The ways to all that can be left out, inside of nested blocks and attributes too: positions from the outside in, what lies outside
/// before what lies inside.
pub(super) fn choices(block: &Block) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut level = vec![(Vec::new(), block)];
    for _ in 0..DEEPEST {
        let mut inner = Vec::new();
        for (way, block) in level {
            for (position, slot) in block.slots().iter().enumerate().filter(|(_, slot)| is_argument(slot)) {
                let way: Vec<usize> = way.iter().copied().chain([position]).collect();
                inner.extend(slot.item.nested().map(|(_, block)| (way.clone(), &**block)));
                found.extend(is_choice(slot).then_some(way));
            }
        }
        level = inner;
    }
    found
}
