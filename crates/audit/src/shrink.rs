//! Shrinking of configurations towards the smallest one that reproduces a finding.

use groma_provider::{Block, Item, Use};
use groma_value::{Kind, Type, Value};

use crate::nested_objects::NestedObjects;

/// Returns all configurations that are one step smaller: without an argument or element, or with a simpler value.
pub fn shrink_candidates(block: &Block, config: &Value) -> Vec<Value> {
    let Kind::Object(object) = config.kind() else { return Vec::new() };
    let mut found = Vec::new();
    for (position, (slot, value)) in block.slots().iter().zip(object.values()).enumerate() {
        let mut put = |smaller: Value| {
            let mut values = object.values().to_vec();
            if let Some(own) = values.get_mut(position) {
                *own = smaller;
                found.push(block.object(values));
            }
        };
        let can_go = match &slot.item {
            Item::Attribute(attribute) => attribute.usage() != Use::Required,
            Item::Block(nested) => nested.min() == 0,
        };
        let empty = slot.item.empty_value();
        // Removal first: it shrinks more than simplification.
        if can_go && value != empty {
            put(empty.clone());
        }
        match (NestedObjects::of(&slot.item, value), slot.item.nested()) {
            (Some(inside), _) => shrink_nested(&inside).into_iter().for_each(&mut put),
            (None, Some(_)) => {}
            (None, None) => simpler(value).into_iter().for_each(&mut put),
        }
    }
    found
}

/// Returns the variants with one object removed or shrunk.
fn shrink_nested(inside: &NestedObjects<'_>) -> Vec<Value> {
    let fewer = (0..inside.objects().len()).filter_map(|position| inside.without(position));
    let objects = inside.objects().iter().enumerate();
    let within = objects.flat_map(|(position, object)| {
        shrink_candidates(inside.block(), object).into_iter().map(move |object| inside.with(position, object))
    });
    fewer.chain(within).collect()
}

fn simpler(value: &Value) -> Vec<Value> {
    match value.kind() {
        Kind::String(text) if text.chars().count() > 1 => {
            let half: String = text.chars().take(text.chars().count() / 2).collect();
            vec![Value::string("a"), Value::string(half)]
        }
        Kind::Number(number) if number.to_i64().is_none_or(|number| !(0..=1).contains(&number)) => {
            vec![Value::number(1), Value::number(0)]
        }
        Kind::Bool(true) => vec![Value::FALSE],
        Kind::List(elements) if !elements.is_empty() => {
            fewer(elements).map(|fewer| Value::list(element_type(value), fewer)).collect()
        }
        Kind::Set(elements) if !elements.is_empty() => {
            fewer(elements).map(|fewer| Value::set(element_type(value), fewer)).collect()
        }
        Kind::Map(map) if !map.is_empty() => {
            let without = |gone: usize| {
                let rest = map.iter().enumerate().filter(move |(position, _)| *position != gone);
                Value::map(element_type(value), rest.map(|(_, (key, value))| (key.clone(), value.clone())))
            };
            (0..map.len()).map(without).collect()
        }
        _ => Vec::new(),
    }
}

fn element_type(value: &Value) -> Type {
    value.ty().element().cloned().unwrap_or(Type::Dynamic)
}

fn fewer(elements: &[Value]) -> impl Iterator<Item = Vec<Value>> {
    (0..elements.len()).map(|gone| {
        let mut rest = elements.to_vec();
        rest.remove(gone);
        rest
    })
}
