//! From the documents of the service to values (CC-41): in the author's form where it means the same.

use groma_value::{Kind, Number, Value};
use serde_json::{Map, Value as Json};

use super::document::text_of;
use super::fields::{Change, Field, Fields, Order, Shape};
use super::same::{agrees, is_empty, partners, same};

/// The object a document describes, with what the document cannot say taken from `prior`.
pub fn read_object(fields: &Fields, document: &Map<String, Json>, prior: &Value) -> Value {
    let prior = prior.as_object();
    let values = fields.list.iter().enumerate().map(|(index, field)| {
        let before = prior.and_then(|view| view.values().get(index)).unwrap_or_else(|| empty(fields, index));
        read_field(field, document, before)
    });
    fields.block.object(values.collect())
}

fn empty(fields: &Fields, index: usize) -> &Value {
    fields.block.slots().get(index).map_or(&Value::NULL, |slot| slot.item.empty_value())
}

fn read_field(field: &Field, document: &Map<String, Json>, prior: &Value) -> Value {
    let known_prior = || if prior.is_wholly_known() { prior.clone() } else { prior.unknown_as_null() };
    let Some(property) = &field.property else { return known_prior() };
    if field.write_only {
        return known_prior();
    }
    let found = document.get(&**property).unwrap_or(&Json::Null);
    if found.is_null() && field.change != Change::InPlace {
        // Nothing can have changed a property that is fixed at creation: the service just does not return it.
        return known_prior();
    }
    let read = read_value(&field.shape, found, prior);
    let completed = field.plain && !prior.is_null() && !read.is_null() && agrees(&field.shape, &known_prior(), &read);
    if completed { known_prior() } else { read }
}

/// The value of a JSON value. What does not fit the schema is null: the schema is older than the service.
pub fn read_value(shape: &Shape, json: &Json, prior: &Value) -> Value {
    let prior = &prior.unknown_as_null();
    let fresh = match (shape, json) {
        // An object of write-only properties alone is not returned.
        (Shape::Object(fields), Json::Null) if !prior.is_null() => read_object(fields, &Map::new(), prior),
        (_, Json::Null) => Value::null(shape.ty()),
        (Shape::List(element, order), Json::Array(elements)) => read_list(element, *order, elements, prior),
        (Shape::Set(element), Json::Array(elements)) => {
            Value::set(element.ty(), read_elements(element, Order::Ignored, elements, prior))
        }
        (Shape::Map(element), Json::Object(members)) => {
            let before = prior.as_map();
            let null = Value::null(element.ty());
            let entries = members.iter().map(|(key, json)| {
                let before = before.and_then(|view| view.get(key)).unwrap_or(&null);
                (key.as_str(), read_value(element, json, before))
            });
            Value::map(element.ty(), entries)
        }
        (Shape::Object(fields), Json::Object(members)) => return read_object(fields, members, prior),
        _ => read_scalar(shape, json).unwrap_or_else(|| Value::null(shape.ty())),
    };
    if is_empty(shape, &fresh) {
        // Empty and absent are the same thing to the service.
        return if is_empty(shape, prior) { prior.clone() } else { Value::null(shape.ty()) };
    }
    if same(shape, prior, &fresh) { prior.clone() } else { fresh }
}

fn read_scalar(shape: &Shape, json: &Json) -> Option<Value> {
    Some(match (shape, json) {
        (Shape::Bool, Json::Bool(flag)) => Value::bool(*flag),
        (Shape::Bool, Json::String(text)) => Value::bool(text.parse().ok()?),
        (Shape::Integer | Shape::Number, Json::Number(number)) => {
            Value::number(Number::parse(&number.to_string()).ok()?)
        }
        (Shape::Integer | Shape::Number, Json::String(text)) => Value::number(Number::parse(text).ok()?),
        (Shape::Text | Shape::Time | Shape::Json, Json::String(text)) => Value::string(text),
        (Shape::Text | Shape::Time | Shape::Json, other) => Value::string(text_of(other)),
        _ => return None,
    })
}

fn read_list(element: &Shape, order: Order, elements: &[Json], prior: &Value) -> Value {
    Value::list(element.ty(), read_elements(element, order, elements, prior))
}

/// The elements, each in the form of the prior element it belongs to, and in the prior order where order means nothing.
fn read_elements(element: &Shape, order: Order, elements: &[Json], prior: &Value) -> Vec<Value> {
    let null = Value::null(element.ty());
    let before = prior.as_slice().unwrap_or_default();
    let plain: Vec<Value> = elements.iter().map(|json| read_value(element, json, &null)).collect();
    if before.is_empty() {
        return plain;
    }
    let partners = match order {
        Order::Ignored => pairs(element, &plain, before),
        Order::Unstated => with_positions(pairs(element, &plain, before), before.len()),
        Order::Kept => (0..plain.len()).map(|index| (index < before.len()).then_some(index)).collect(),
    };
    let mut read: Vec<(usize, Value)> = elements
        .iter()
        .zip(plain)
        .zip(partners)
        .map(|((json, plain), partner)| match partner.and_then(|index| Some((index, before.get(index)?))) {
            Some((index, prior)) => (index, read_value(element, json, prior)),
            None => (usize::MAX, plain),
        })
        .collect();
    // The sort is stable: new elements follow the known ones in the order of the service.
    if order != Order::Kept {
        read.sort_by_key(|(index, _)| *index);
    }
    read.into_iter().map(|(_, value)| value).collect()
}

/// For each returned element the position of the prior one that it belongs to. A prior element may lack what the service has added to it.
fn pairs(element: &Shape, returned: &[Value], prior: &[Value]) -> Vec<Option<usize>> {
    let mut found = partners(element, returned, prior);
    let open: Vec<usize> = (0..returned.len()).filter(|index| found[*index].is_none()).collect();
    let mut is_free = vec![true; prior.len()];
    for index in found.iter().flatten() {
        is_free[*index] = false;
    }
    let free: Vec<usize> = (0..prior.len()).filter(|index| is_free[*index]).collect();
    if open.is_empty() || free.is_empty() {
        return found;
    }
    let chosen =
        |values: &[Value], indices: &[usize]| indices.iter().map(|index| values[*index].clone()).collect::<Vec<_>>();
    let completed = partners(element, &chosen(prior, &free), &chosen(returned, &open));
    for (prior, returned) in free.iter().zip(completed) {
        if let Some(index) = returned {
            found[open[index]] = Some(*prior);
        }
    }
    found
}

/// Pairs each element without a partner with the element at its own position, if that one has no partner either: a changed
/// element stays where it is.
fn with_positions(mut partners: Vec<Option<usize>>, known: usize) -> Vec<Option<usize>> {
    let mut free = vec![true; known];
    for index in partners.iter().flatten() {
        free[*index] = false;
    }
    for (index, partner) in partners.iter_mut().enumerate().filter(|(_, partner)| partner.is_none()) {
        *partner = free.get(index).is_some_and(|free| *free).then_some(index);
    }
    partners
}

/// Returns the planned object with unknown values filled in from a document; known planned values stay (LC-12, LC-13).
pub fn fill_object(fields: &Fields, planned: &Value, document: &Map<String, Json>) -> Value {
    let Some(view) = planned.as_object() else { return read_object(fields, document, planned) };
    let values = fields.list.iter().zip(view.values()).map(|(field, value)| fill_field(field, value, document));
    fields.block.object(values.collect())
}

fn fill_field(field: &Field, planned: &Value, document: &Map<String, Json>) -> Value {
    if planned.is_wholly_known() {
        return planned.clone();
    }
    match &field.property {
        Some(property) if !field.write_only => {
            fill_value(&field.shape, planned, document.get(&**property).unwrap_or(&Json::Null))
        }
        _ => planned.unknown_as_null(),
    }
}

fn fill_value(shape: &Shape, planned: &Value, json: &Json) -> Value {
    if planned.is_wholly_known() {
        return planned.clone();
    }
    match (shape, planned.kind(), json) {
        (_, Kind::Unknown(_), _) => read_value(shape, json, &Value::null(shape.ty())),
        (Shape::Object(fields), Kind::Object(_), Json::Object(members)) => fill_object(fields, planned, members),
        (Shape::List(element, order), Kind::List(values), Json::Array(elements)) => {
            Value::list(element.ty(), fill_elements(element, *order, values, elements))
        }
        (Shape::Set(element), Kind::Set(values), Json::Array(elements)) => {
            Value::set(element.ty(), fill_elements(element, Order::Ignored, values, elements))
        }
        (Shape::Map(element), Kind::Map(view), Json::Object(members)) => {
            let entries = view.iter().map(|(key, value)| {
                (key.clone(), fill_value(element, value, members.get(&**key).unwrap_or(&Json::Null)))
            });
            Value::map(element.ty(), entries)
        }
        _ => planned.unknown_as_null(),
    }
}

fn fill_elements(element: &Shape, order: Order, planned: &[Value], elements: &[Json]) -> Vec<Value> {
    let null = Value::null(element.ty());
    let plain: Vec<Value> = elements.iter().map(|json| read_value(element, json, &null)).collect();
    let match_pairwise = planned.len() == plain.len()
        && (order == Order::Kept || planned.iter().zip(&plain).all(|(planned, plain)| agrees(element, planned, plain)));
    let partners: Vec<Option<usize>> =
        if match_pairwise { (0..planned.len()).map(Some).collect() } else { partners(element, planned, &plain) };
    let filled = planned.iter().zip(partners).map(|(value, partner)| {
        fill_value(element, value, partner.and_then(|index| elements.get(index)).unwrap_or(&Json::Null))
    });
    filled.collect()
}
