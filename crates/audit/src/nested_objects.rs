//! Objects nested in blocks and attributes.

use groma_provider::{Block, Item, Nesting, collection_like};
use groma_value::{Kind, Value};

/// The objects nested in an argument, with operations to replace them.
pub(crate) struct NestedObjects<'a> {
    nesting: Nesting,
    block: &'a Block,
    value: &'a Value,
    objects: Vec<Value>,
}

impl<'a> NestedObjects<'a> {
    /// Returns the objects nested in `value`; `None` if there is no object.
    pub(crate) fn of(item: &'a Item, value: &'a Value) -> Option<Self> {
        let (nesting, block) = item.nested()?;
        let objects = match (nesting, value.kind()) {
            (Nesting::Single | Nesting::Group, Kind::Object(_)) => vec![value.clone()],
            (Nesting::List | Nesting::Set, Kind::List(objects) | Kind::Set(objects)) => objects.to_vec(),
            (Nesting::List, Kind::Tuple(objects)) => objects.to_vec(),
            (Nesting::Map, Kind::Map(map)) => map.iter().map(|(_, object)| object.clone()).collect(),
            (Nesting::Map, Kind::Object(object)) => object.values().to_vec(),
            _ => return None,
        };
        (!objects.is_empty()).then_some(Self { nesting, block, value, objects })
    }

    /// Returns the schema of the objects.
    pub(crate) fn block(&self) -> &'a Block {
        self.block
    }

    /// Returns the objects in order.
    pub(crate) fn objects(&self) -> &[Value] {
        &self.objects
    }

    /// Replaces all objects with an equal number of others.
    pub(crate) fn with_all(&self, mut objects: Vec<Value>) -> Value {
        match self.nesting {
            Nesting::Single | Nesting::Group => objects.pop().unwrap_or_else(|| self.value.clone()),
            _ => collection_like(self.value, self.block, objects),
        }
    }

    /// Replaces the object at `position`.
    pub(crate) fn with(&self, position: usize, object: Value) -> Value {
        let mut objects = self.objects.clone();
        if let Some(own) = objects.get_mut(position) {
            *own = object;
        }
        self.with_all(objects)
    }

    /// Removes an object; `None` if it is the only one.
    pub(crate) fn without(&self, position: usize) -> Option<Value> {
        if self.objects.len() < 2 {
            return None;
        }
        let kept = |(other, _): &(usize, _)| *other != position;
        match self.value.kind() {
            Kind::Map(map) => {
                let rest = map.iter().enumerate().filter(kept).map(|(_, (key, object))| (key.clone(), object.clone()));
                Some(Value::map(self.block.implied_type().clone(), rest))
            }
            Kind::Object(object) => {
                let rest = object.iter().enumerate().filter(|(other, _)| *other != position);
                Some(Value::object(rest.map(|(_, (key, object))| (key.clone(), object.clone()))))
            }
            _ => {
                let rest = self.objects.iter().enumerate().filter(|(other, _)| *other != position);
                Some(collection_like(self.value, self.block, rest.map(|(_, object)| object.clone()).collect()))
            }
        }
    }
}
