//! Normalization of objects from providers with the legacy type system.

use groma_value::{Kind, Type, Value};

use crate::schema::{Block, Item, NestedBlock, Nesting};

/// Replaces null blocks with empty collections, and unknown blocks with blocks of unknown attributes, in an object that
/// was read (plugin-protocol 4.3). Plans and apply results are not normalized: the provider must get back its own plan.
pub fn normalize_legacy(block: &Block, value: &Value) -> Value {
    let Kind::Object(object) = value.kind() else { return value.clone() };
    if !block.contains_blocks() {
        return value.clone();
    }
    let parts = block.slots().iter().zip(object.values()).map(|(slot, value)| match &slot.item {
        Item::Attribute(_) => value.clone(),
        Item::Block(nested) => normalize_nested(nested, value),
    });
    block.object(parts.collect())
}

fn normalize_nested(nested: &NestedBlock, value: &Value) -> Value {
    let block = nested.block();
    // The legacy type system has neither dynamic attributes nor maps of blocks, so such a schema belongs to another
    // provider.
    if nested.nesting() == Nesting::Map || block.implied_type().has_dynamic() {
        return value.clone();
    }
    let element = block.implied_type().clone();
    let each = |values: &[Value]| values.iter().map(|value| normalize_legacy(block, value)).collect();
    match (nested.nesting(), value.kind()) {
        (Nesting::List, Kind::Unknown(_)) => Value::list(element, vec![unknown_block(block)]),
        (Nesting::Set, Kind::Unknown(_)) => Value::set(element, vec![unknown_block(block)]),
        (_, Kind::Unknown(_)) => unknown_block(block),
        (Nesting::List | Nesting::Set | Nesting::Group, Kind::Null) => nested.empty_value().clone(),
        (Nesting::List, Kind::List(values)) => Value::list(element, each(values)),
        (Nesting::Set, Kind::Set(values)) => Value::set(element, each(values)),
        _ => normalize_legacy(block, value),
    }
}

fn unknown_block(block: &Block) -> Value {
    let parts = block.slots().iter().map(|slot| match &slot.item {
        Item::Attribute(attribute) => Value::unknown(attribute.ty()),
        Item::Block(nested) => normalize_nested(nested, &Value::unknown(Type::Dynamic)),
    });
    block.object(parts.collect())
}
