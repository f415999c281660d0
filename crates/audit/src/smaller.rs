//! Configurations that are a little smaller than one: the way to the smallest that shows a problem.

use groma_provider::{Block, Item, Use};
use groma_value::{Kind, Type, Value};

use crate::inside::Inside;

/// Everything that is one step smaller than `config`: an argument left out, an element less, a value plainer.
pub fn smaller(block: &Block, config: &Value) -> Vec<Value> {
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
        if can_go && value != empty {
            put(empty.clone());
        }
        match (Inside::of(&slot.item, value), slot.item.nested()) {
            (Some(inside), _) => smaller_inside(&inside).into_iter().for_each(&mut put),
            (None, Some(_)) => {}
            (None, None) => plainer(value).into_iter().for_each(&mut put),
        }
    }
    found
}

/// An object less, or one of the objects smaller.
fn smaller_inside(inside: &Inside<'_>) -> Vec<Value> {
    let fewer = (0..inside.objects().len()).filter_map(|position| inside.without(position));
    let objects = inside.objects().iter().enumerate();
    let within = objects.flat_map(|(position, object)| {
        smaller(inside.block(), object).into_iter().map(move |object| inside.with(position, object))
    });
    fewer.chain(within).collect()
}

fn plainer(value: &Value) -> Vec<Value> {
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
