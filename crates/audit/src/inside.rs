//! What nested blocks, and attributes of nested types, hold: objects with a schema of their own.

use groma_provider::{Block, Item, Nesting, collection_like};
use groma_value::{Kind, Value};

/// The objects inside of an argument, and the way to put it together with others.
pub(crate) struct Inside<'a> {
    nesting: Nesting,
    block: &'a Block,
    value: &'a Value,
    objects: Vec<Value>,
}

impl<'a> Inside<'a> {
    /// The objects inside of `value`; nothing where there are none.
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

    /// Their schema.
    pub(crate) fn block(&self) -> &'a Block {
        self.block
    }

    /// The objects themselves.
    pub(crate) fn objects(&self) -> &[Value] {
        &self.objects
    }

    /// The argument with other objects, as many as there are.
    pub(crate) fn with_all(&self, mut objects: Vec<Value>) -> Value {
        match self.nesting {
            Nesting::Single | Nesting::Group => objects.pop().unwrap_or_else(|| self.value.clone()),
            _ => collection_like(self.value, self.block, objects),
        }
    }

    /// The argument with another object in one place.
    pub(crate) fn with(&self, position: usize, object: Value) -> Value {
        let mut objects = self.objects.clone();
        if let Some(own) = objects.get_mut(position) {
            *own = object;
        }
        self.with_all(objects)
    }

    /// The argument with an object less; nothing where that is no smaller argument of the same kind.
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
