//! Configurations that are a little smaller than one: the way to the smallest that shows a problem.

use groma_provider::{Block, Item, Nesting, Use, collection_like};
use groma_value::{Kind, Type, Value};

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
        let (can_go, nested) = match &slot.item {
            Item::Attribute(attribute) => (
                attribute.usage() != Use::Required,
                attribute.nested_type().map(|nested| (nested.nesting().into(), nested.object())),
            ),
            Item::Block(nested) => (nested.min() == 0, Some((nested.nesting(), nested.block()))),
        };
        let empty = slot.item.empty_value();
        if can_go && value != empty {
            put(empty.clone());
        }
        match nested {
            Some((nesting, inner)) => smaller_nested(nesting, inner, value).into_iter().for_each(&mut put),
            None => plainer(value).into_iter().for_each(&mut put),
        }
    }
    found
}

fn smaller_nested(nesting: Nesting, block: &Block, value: &Value) -> Vec<Value> {
    let elements = match (nesting, value.kind()) {
        (Nesting::Single | Nesting::Group, _) => return smaller(block, value),
        (_, Kind::List(elements) | Kind::Set(elements)) => elements,
        // Maps and values of dynamic type: only as wholes.
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    if elements.len() > 1 {
        for position in 0..elements.len() {
            let mut fewer = elements.to_vec();
            fewer.remove(position);
            found.push(collection_like(value, block, fewer));
        }
    }
    for (position, element) in elements.iter().enumerate() {
        for smaller in smaller(block, element) {
            let mut changed = elements.to_vec();
            if let Some(own) = changed.get_mut(position) {
                *own = smaller;
            }
            found.push(collection_like(value, block, changed));
        }
    }
    found
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
