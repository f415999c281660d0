//! The type of an object, and values that must not be in it (LC-01, LC-13, LC-21, LC-29).

use groma_value::{Kind, Type, Value};

use super::{Problem, Violation};
use crate::proposed::collection_like;
use crate::schema::{Block, Item, Nesting};
use crate::trail::Trail;

/// What is wrong with an object that is there: its shape, or else that it holds unknown values, or else values that must not be kept.
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

/// Everything in `value` that is not of the type `ty`; the schema's dynamic parts take any type (LC-01).
pub fn check_shape(ty: &Type, value: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    // The usual case is an exact match, which needs no walk when the value was built with the schema's own type.
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
        // Nulls and unknowns without a type of their own say nothing wrong.
        (_, Kind::Null | Kind::Unknown(_)) => {
            let own = value.ty();
            if own != Type::Dynamic && !type_conforms(ty, &own) {
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
        // Mostly the names are the same, and then need not be looked up.
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

fn mismatch(wanted: &Type, actual: &Type) -> String {
    format!("{} is required, not {}", wanted.friendly_name(), actual.friendly_name())
}

/// Whether values of the type `actual` fit where `wanted` is: the same but for dynamic parts of `wanted`.
pub(super) fn type_conforms(wanted: &Type, actual: &Type) -> bool {
    match (wanted, actual) {
        (Type::Dynamic, _) => true,
        (Type::List(wanted), Type::List(actual))
        | (Type::Set(wanted), Type::Set(actual))
        | (Type::Map(wanted), Type::Map(actual)) => type_conforms(wanted, actual),
        (Type::Tuple(wanted), Type::Tuple(actual)) => {
            wanted.len() == actual.len() && wanted.iter().zip(actual.iter()).all(|(w, a)| type_conforms(w, a))
        }
        (Type::Object(wanted), Type::Object(actual)) => {
            wanted.shape() == actual.shape()
                && wanted.types().iter().zip(actual.types()).all(|(w, a)| type_conforms(w, a))
        }
        (wanted, actual) => wanted == actual,
    }
}

/// The places of unknown values in `value`, where everything must be known (LC-13, LC-21).
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

/// The places of values that write-only attributes have in `value`; they must have none (LC-29).
pub fn check_write_only(block: &Block, value: &Value) -> Vec<Violation> {
    block.write_only_values(value).into_iter().map(|path| Violation { path, problem: Problem::WriteOnly }).collect()
}

/// `value` with null for every write-only attribute: what may be kept of an object that holds what must not be (LC-29).
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
