//! Access to the children of an aggregate, and rebuilding it from new ones.

use super::build::typed_elements;
use super::repr::{Flags, MapData, ObjectData, Repr, TupleData, Value};
use crate::path::PathStep;
use crate::types::Type;
use std::sync::{Arc, OnceLock};

impl Value {
    pub(crate) fn is_set(&self) -> bool {
        matches!(self.bare().0, Repr::Set(_))
    }

    /// Calls `visit` with each child and the step to it, in order. The step is lazy, because most callers need it only
    /// for marked children.
    pub(crate) fn children<'a>(&'a self, mut visit: impl FnMut(&dyn Fn() -> PathStep, &'a Value)) {
        match &self.bare().0 {
            Repr::List(sequence) => positions(&sequence.values, &mut visit),
            Repr::Tuple(tuple) => positions(&tuple.values, &mut visit),
            Repr::Set(set) => set.values.iter().for_each(|value| visit(&|| PathStep::Index(value.clone()), value)),
            Repr::Map(map) => map
                .keys
                .names()
                .iter()
                .zip(&map.values)
                .for_each(|(key, value)| visit(&|| PathStep::Index(Value(Repr::String(key.clone()))), value)),
            Repr::Object(object) => object
                .shape
                .names()
                .iter()
                .zip(&object.values)
                .for_each(|(name, value)| visit(&|| PathStep::Attribute(name.clone()), value)),
            _ => {}
        }
    }

    /// Replaces each child. If all elements of a collection change their type, the collection's element type changes
    /// too.
    pub(crate) fn map_children(&self, mut replace: impl FnMut(&dyn Fn() -> PathStep, &Value) -> Value) -> Value {
        let result: Result<Value, std::convert::Infallible> =
            self.try_map_children(|step, child| Ok(replace(step, child)));
        match result {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Replaces each child, stopping at the first error. Marks of the value itself are kept.
    pub(crate) fn try_map_children<E>(
        &self,
        mut replace: impl FnMut(&dyn Fn() -> PathStep, &Value) -> Result<Value, E>,
    ) -> Result<Value, E> {
        let mut values = Vec::new();
        let mut failure = None;
        self.children(|step, child| {
            if failure.is_some() {
                return;
            }
            match replace(step, child) {
                Ok(value) => values.push(value),
                Err(error) => failure = Some(error),
            }
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let rebuilt = match &self.bare().0 {
            Repr::List(list) => {
                let element = common_type(&list.element, &values);
                Value::list_of(element, values)
            }
            Repr::Set(set) => {
                let element = common_type(&set.element, &values);
                Value::set_of(element, values)
            }
            Repr::Tuple(_) => {
                let flags = Flags::of(&values);
                Value(Repr::Tuple(Arc::new(TupleData { values, flags, ty: OnceLock::new() })))
            }
            Repr::Map(map) => {
                let element = common_type(&map.element, &values);
                let values = typed_elements(&element, values);
                let flags = Flags::of(&values);
                Value(Repr::Map(Arc::new(MapData { element, keys: map.keys.clone(), values, flags })))
            }
            Repr::Object(object) => match object.ty.get() {
                Some(ty) => Value::object_typed(ty, values),
                None => {
                    let flags = Flags::of(&values);
                    let shape = object.shape.clone();
                    Value(Repr::Object(Arc::new(ObjectData { shape, values, flags, ty: OnceLock::new() })))
                }
            },
            _ => return Ok(self.clone()),
        };
        Ok(rebuilt.with_marks(self.marks()))
    }
}

fn positions<'a>(values: &'a [Value], visit: &mut impl FnMut(&dyn Fn() -> PathStep, &'a Value)) {
    for (at, value) in values.iter().enumerate() {
        visit(&|| PathStep::Index(Value::number(at)), value);
    }
}

/// Returns the element type for new elements: `old` if it still applies, otherwise their own.
fn common_type(old: &Arc<Type>, values: &[Value]) -> Arc<Type> {
    let first = values.iter().find(|value| !value.has_type(&Type::Dynamic));
    match first {
        Some(value) if !value.has_type(old) => value.ty().shared(),
        _ => old.clone(),
    }
}
