//! Visiting and transforming nested values.

use super::index::IndexError;
use super::kind::Kind;
use super::repr::Value;
use crate::path::{Path, PathStep};

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
    /// aggregate are on it when it is its turn.
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
