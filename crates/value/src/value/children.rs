//! Access to the parts of a value: iteration and walks.

use std::sync::{Arc, OnceLock};

use super::build::typed_elements;
use super::index::IndexError;
use super::kind::Kind;
use super::repr::{Flags, MapData, ObjectData, Repr, TupleData, Value};
use crate::path::{Path, PathStep};
use crate::types::Type;

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
            // `children` cannot stop early, so the remaining children are skipped.
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
            // A type that was computed before is shared if the new values still have it.
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

impl Value {
    /// Returns the value at a path.
    ///
    /// # Errors
    /// Fails if a step does not exist or cannot be applied.
    pub fn path_get(&self, path: &Path) -> Result<Value, IndexError> {
        path.steps().iter().try_fold(self.clone(), |value, step| match step {
            PathStep::Attribute(name) => {
                if value.is_null() {
                    return Err(IndexError::NullCollection);
                }
                value.attribute(name).ok_or(IndexError::Missing)
            }
            // An element of a set is its own key.
            PathStep::Index(key) if value.is_set() => value.member(key),
            PathStep::Index(key) => value.element(key),
        })
    }

    /// Calls `visit` with the value and all nested values in pre-order; children are skipped if it returns false.
    pub fn walk(&self, mut visit: impl FnMut(&Path, &Value) -> bool) {
        walk(self, &mut Path::root(), &mut visit);
    }

    /// Whether a number inside is infinite. JSON, and so a state, cannot represent infinity.
    pub fn has_infinity(&self) -> bool {
        if let Kind::Number(number) = self.kind() {
            return number.is_infinite();
        }
        let mut found = false;
        self.children(|_, child| found = found || child.has_infinity());
        found
    }

    /// Replaces every nested value in post-order. Marks of an aggregate are on it when `replace` is called for it.
    #[must_use]
    pub fn transform(&self, mut replace: impl FnMut(&Path, Value) -> Value) -> Value {
        let result: Result<Value, std::convert::Infallible> =
            self.try_transform(|path, value| Ok(replace(path, value)));
        match result {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Replaces every nested value in post-order, stopping at the first error.
    ///
    /// # Errors
    /// Returns the first error of `replace`.
    pub fn try_transform<E>(&self, mut replace: impl FnMut(&Path, Value) -> Result<Value, E>) -> Result<Value, E> {
        transform(self, &mut Path::root(), &mut replace)
    }

    /// Replaces all unknown values inside with nulls of their type.
    #[must_use]
    pub fn unknown_as_null(&self) -> Value {
        if self.is_wholly_known() {
            return self.clone();
        }
        self.transform(
            |_, value| if value.is_known() { value } else { Value::null(value.ty()).with_marks(value.marks()) },
        )
    }
}

fn walk(value: &Value, path: &mut Path, visit: &mut impl FnMut(&Path, &Value) -> bool) {
    if !visit(path, value) {
        return;
    }
    value.children(|step, child| {
        path.push(step());
        walk(child, path, visit);
        path.pop();
    });
}

fn transform<E>(
    value: &Value,
    path: &mut Path,
    replace: &mut impl FnMut(&Path, Value) -> Result<Value, E>,
) -> Result<Value, E> {
    let inner = value.try_map_children(|step, child| {
        path.push(step());
        let child = transform(child, path, replace);
        path.pop();
        child
    })?;
    replace(path, inner)
}
