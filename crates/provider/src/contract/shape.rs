//! Checks for types, unknown values and write-only values in returned objects (LC-01, LC-13, LC-21, LC-29).

use groma_value::{Kind, Type, Value};

use super::{Problem, Violation};
use crate::proposed::collection_like;
use crate::schema::{Block, Item, NestedBlock, Nesting};
use crate::trail::Trail;

/// Finds violations in an existing object: wrong types, or else unknown values, or else write-only values.
pub fn check_object(block: &Block, object: &Value) -> Vec<Violation> {
    let mut found = check_shape(block.implied_type(), object);
    if found.is_empty() {
        found = check_unknowns(object);
    }
    if found.is_empty() {
        found = check_write_only(block, object);
    }
    found
}

/// Finds everything in `value` that does not conform to `ty`; dynamic parts of `ty` accept all types (LC-01).
pub fn check_shape(ty: &Type, value: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    // The exact match is the common case, and needs no walk for a value that was built with the schema's own type.
    if !value.has_type(ty) {
        conform(ty, value, &Trail::ROOT, &mut found);
    }
    found
}

fn conform(ty: &Type, value: &Value, trail: &Trail<'_>, found: &mut Vec<Violation>) {
    let mut wrong = |message: String| found.push(Violation { path: trail.path(), problem: Problem::Shape(message) });
    match (ty, value.kind()) {
        (Type::Dynamic, _)
        | (Type::Bool, Kind::Bool(_))
        | (Type::Number, Kind::Number(_))
        | (Type::String, Kind::String(_)) => {}
        // Untyped nulls and unknowns conform to every type.
        (_, Kind::Null | Kind::Unknown(_)) => {
            let own = value.ty();
            if own != Type::Dynamic && !own.conforms_to(ty) {
                wrong(mismatch(ty, &own));
            }
        }
        (Type::List(element), Kind::List(values)) => {
            for (position, value) in values.iter().enumerate() {
                conform(element, value, &trail.position(position), found);
            }
        }
        (Type::Set(element), Kind::Set(values)) => {
            values.iter().for_each(|value| conform(element, value, &trail.element(value), found));
        }
        (Type::Map(element), Kind::Map(map)) => {
            map.iter().for_each(|(key, value)| conform(element, value, &trail.key(key), found));
        }
        (Type::Tuple(types), Kind::Tuple(values)) => {
            if types.len() != values.len() {
                wrong(format!("a tuple of {} elements is required, not of {}", types.len(), values.len()));
            }
            for (position, (ty, value)) in types.iter().zip(values).enumerate() {
                conform(ty, value, &trail.position(position), found);
            }
        }
        // Equal attribute names are the common case, which needs no lookups.
        (Type::Object(types), Kind::Object(object)) if types.shape() == object.shape() => {
            for ((name, value), ty) in object.iter().zip(types.types()) {
                conform(ty, value, &trail.attribute(name), found);
            }
        }
        (Type::Object(types), Kind::Object(object)) => {
            for (name, ty) in types.iter() {
                match object.get(name) {
                    Some(value) => conform(ty, value, &trail.attribute(name), found),
                    None => found.push(Violation {
                        path: trail.attribute(name).path(),
                        problem: Problem::Shape("the attribute is missing".into()),
                    }),
                }
            }
            for (name, _) in object.iter().filter(|(name, _)| types.attribute(name).is_none()) {
                found.push(Violation {
                    path: trail.attribute(name).path(),
                    problem: Problem::Shape("the schema has no such attribute".into()),
                });
            }
        }
        _ => wrong(mismatch(ty, &value.ty())),
    }
}

fn mismatch(required: &Type, actual: &Type) -> String {
    format!("{} is required, not {}", required.friendly_name(), actual.friendly_name())
}

/// Finds unknown values in `value`, which must be wholly known (LC-13, LC-21).
pub fn check_unknowns(value: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    find_unknowns(value, &Trail::ROOT, &mut found);
    found
}

fn find_unknowns(value: &Value, trail: &Trail<'_>, found: &mut Vec<Violation>) {
    if value.is_wholly_known() {
        return;
    }
    match value.kind() {
        Kind::List(values) | Kind::Tuple(values) => {
            for (position, value) in values.iter().enumerate() {
                find_unknowns(value, &trail.position(position), found);
            }
        }
        Kind::Set(values) => values.iter().for_each(|value| find_unknowns(value, &trail.element(value), found)),
        Kind::Map(map) => map.iter().for_each(|(key, value)| find_unknowns(value, &trail.key(key), found)),
        Kind::Object(object) => {
            object.iter().for_each(|(name, value)| find_unknowns(value, &trail.attribute(name), found));
        }
        _ => found.push(Violation { path: trail.path(), problem: Problem::Unknown }),
    }
}

/// Finds non-null values of write-only attributes (LC-29).
pub fn check_write_only(block: &Block, value: &Value) -> Vec<Violation> {
    block.write_only_values(value).into_iter().map(|path| Violation { path, problem: Problem::WriteOnly }).collect()
}

/// Replaces the values of write-only attributes with null, so that the object may be stored (LC-29).
pub fn without_write_only(block: &Block, value: &Value) -> Value {
    if !block.contains_write_only() {
        return value.clone();
    }
    let Kind::Object(object) = value.kind() else { return value.clone() };
    let parts = block.slots().iter().zip(object.values()).map(|(slot, value)| match &slot.item {
        Item::Attribute(attribute) if attribute.is_write_only() => attribute.empty_value().clone(),
        item => match item.nested().filter(|(_, inner)| inner.contains_write_only()) {
            Some((nesting, inner)) => nested_without_write_only(nesting, inner, value),
            None => value.clone(),
        },
    });
    block.object(parts.collect())
}

fn nested_without_write_only(nesting: Nesting, block: &Block, value: &Value) -> Value {
    let each = |values: &[Value]| values.iter().map(|value| without_write_only(block, value)).collect();
    match (nesting, value.kind()) {
        (Nesting::Single | Nesting::Group, _) => without_write_only(block, value),
        (_, Kind::List(values) | Kind::Tuple(values) | Kind::Set(values)) => {
            collection_like(value, block, each(values))
        }
        (_, Kind::Map(map)) => collection_like(value, block, each(map.values())),
        (_, Kind::Object(object)) => collection_like(value, block, each(object.values())),
        _ => value.clone(),
    }
}

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
