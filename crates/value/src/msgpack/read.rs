//! Decoding values of a known type.

use super::refinement;
use super::scan::{Item, Scanner};
use crate::Name;
use crate::codec::{CodecError, Outcome};
use crate::convert::read_element_type;
use crate::path::PathStep;
use crate::text::normalized;
use crate::types::{MAX_DEPTH, ObjectType, Shape, Type};
use crate::value::Value;
use std::sync::Arc;

/// Decodes a value of a type. Trailing bytes are ignored.
///
/// # Errors
/// Fails if the bytes are not msgpack or do not match the type.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value, CodecError> {
    Ok(value(&mut Scanner::new(bytes), ty, 0)?)
}

pub(super) fn value(scanner: &mut Scanner<'_>, ty: &Type, depth: usize) -> Outcome<Value> {
    if depth > MAX_DEPTH {
        return scanner.fail("the value is nested too deeply");
    }
    let item = scanner.item()?;
    match (item, ty) {
        // Unknown values and nulls come first, because they are possible for every type, including the dynamic one.
        (Item::Extension { kind, body }, _) => refinement::decode(scanner, kind, body, ty),
        (Item::Nil, _) => Ok(Value::null(ty.clone())),
        (Item::Array(2), Type::Dynamic) => dynamic(scanner, depth),
        (_, Type::Dynamic) => scanner.fail("a dynamic value must be an array of its type and the value"),
        (Item::Array(length), Type::List(element)) => {
            let values = sequence(scanner, length, element, depth)?;
            Ok(Value::list_of(common(scanner, element, &values)?, values))
        }
        (Item::Array(length), Type::Set(element)) => {
            let values = sequence(scanner, length, element, depth)?;
            Ok(Value::set_of(common(scanner, element, &values)?, values))
        }
        (Item::Array(length), Type::Tuple(types)) if length == types.len() => {
            let elements: Outcome<Vec<Value>> =
                types.iter().enumerate().map(|(at, ty)| indexed(scanner, ty, at, depth)).collect();
            elements.map(Value::tuple)
        }
        (Item::Map(length), Type::Map(element)) => map(scanner, length, element, depth),
        (Item::Map(length), Type::Object(object)) if length == object.len() => attributes(scanner, object, depth),
        (Item::Map(length), Type::Object(object)) => {
            scanner.fail(format!("an object of {} attributes is required, but got {length}", object.len()))
        }
        (item, ty) => simple(scanner, &item, ty),
    }
}

fn simple(scanner: &Scanner<'_>, item: &Item<'_>, ty: &Type) -> Outcome<Value> {
    match (ty, item) {
        (Type::Bool, Item::Bool(value)) => Ok(Value::bool(*value)),
        // Providers pass on output of other programs that is not always UTF-8. Rejecting it would fail the whole
        // resource.
        (Type::String, Item::Bytes(bytes)) => Ok(Value::string(&*String::from_utf8_lossy(bytes))),
        (Type::Number, _) => match item.number() {
            Some(number) => Ok(Value::number(number)),
            None => scanner.fail("number is required"),
        },
        (Type::Bool, _) => scanner.fail("bool is required"),
        (Type::String, _) => scanner.fail("string is required"),
        (Type::List(_), _) => scanner.fail("a list is required"),
        (Type::Set(_), _) => scanner.fail("a set is required"),
        (Type::Map(_), _) => scanner.fail("a map is required"),
        (Type::Object(_), _) => scanner.fail("an object is required"),
        (Type::Tuple(types), Item::Array(_)) => scanner.fail(format!("a tuple of length {} is required", types.len())),
        (Type::Tuple(_), _) => scanner.fail("a tuple is required"),
        (Type::Dynamic, _) => scanner.fail("a dynamic value is required"),
    }
}

fn indexed(scanner: &mut Scanner<'_>, ty: &Type, at: usize, depth: usize) -> Outcome<Value> {
    value(scanner, ty, depth + 1).map_err(|failure| failure.within(PathStep::Index(Value::number(at))))
}

fn sequence(scanner: &mut Scanner<'_>, length: usize, element: &Type, depth: usize) -> Outcome<Vec<Value>> {
    // The length is untrusted. An element takes at least one byte, so the remaining input bounds the allocation.
    let mut values = Vec::with_capacity(length.min(scanner.remaining()));
    for at in 0..length {
        values.push(indexed(scanner, element, at, depth)?);
    }
    Ok(values)
}

/// Returns the common type of all elements.
fn common(scanner: &Scanner<'_>, element: &Arc<Type>, values: &[Value]) -> Outcome<Arc<Type>> {
    read_element_type(element, values).map_or_else(|| scanner.fail("all elements must be of the same type"), Ok)
}

fn map(scanner: &mut Scanner<'_>, length: usize, element: &Arc<Type>, depth: usize) -> Outcome<Value> {
    let mut entries: Vec<(Name, Value)> = Vec::with_capacity(length.min(scanner.remaining()));
    for _ in 0..length {
        let key = Name::from(normalized(scanner.text("non-string key in map")?).as_ref());
        let value = value(scanner, element, depth + 1)
            .map_err(|failure| failure.within(PathStep::Index(Value::from(key.clone()))))?;
        entries.push((key, value));
    }
    let (keys, values) = Shape::sorted(entries);
    Ok(Value::map_shaped(common(scanner, element, &values)?, keys, values))
}

/// Reads the attributes of an object. Most providers encode them sorted, which avoids a lookup for each.
fn attributes(scanner: &mut Scanner<'_>, object: &Arc<ObjectType>, depth: usize) -> Outcome<Value> {
    let mut values = Vec::with_capacity(object.len());
    for ((name, ty), left) in object.shape().names().iter().zip(object.types()).zip((0..object.len()).rev()) {
        let key = scanner.text("all keys must be strings")?;
        if **name != *key {
            return unsorted_attributes(scanner, (object, key), values, left, depth);
        }
        let value =
            value(scanner, ty, depth + 1).map_err(|failure| failure.within(PathStep::Attribute(name.clone())))?;
        values.push(value);
    }
    Ok(Value::object_typed(object, values))
}

/// Continues at the attribute `key` in any order; `left` more attributes follow. Because the count was checked before,
/// a missing attribute implies a duplicate one.
fn unsorted_attributes(
    scanner: &mut Scanner<'_>,
    (object, mut key): (&Arc<ObjectType>, &str),
    sorted: Vec<Value>,
    left: usize,
    depth: usize,
) -> Outcome<Value> {
    let names = object.shape().names();
    let mut values: Vec<Option<Value>> = sorted.into_iter().map(Some).collect();
    values.resize(names.len(), None);
    for left in (0..=left).rev() {
        let Some(at) = object.shape().position(key) else {
            return scanner.fail(format!("unsupported attribute {key:?}"));
        };
        let (Some(ty), Some(slot), Some(name)) = (object.types().get(at), values.get_mut(at), names.get(at)) else {
            continue;
        };
        if slot.is_some() {
            return scanner.fail(format!("duplicate attribute {key:?}"));
        }
        let value =
            value(scanner, ty, depth + 1).map_err(|failure| failure.within(PathStep::Attribute(name.clone())))?;
        *slot = Some(value);
        if left > 0 {
            key = scanner.text("all keys must be strings")?;
        }
    }
    let values = values.into_iter().map(|value| value.unwrap_or(Value::NULL)).collect();
    Ok(Value::object_typed(object, values))
}

fn dynamic(scanner: &mut Scanner<'_>, depth: usize) -> Outcome<Value> {
    let Item::Bytes(json) = scanner.item()? else {
        return scanner.fail("expected the type of a dynamic value");
    };
    match Type::from_json(json) {
        Ok(ty) => value(scanner, &ty, depth + 1),
        Err(error) => scanner.fail(error.to_string()),
    }
}
