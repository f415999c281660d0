//! Fields that hold collections.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use groma_provider::{Nesting, ObjectNesting};
use groma_value::{Kind, Path, PathStep, Type, Value};

use super::field::wrong_type;
use super::{BlockField, Field, FieldShape, Model, ModelError};

/// The elements of a set, without duplicates, in the order of the language.
///
/// For elements that have no order and no hash in Rust, such as models; [`BTreeSet`] and [`HashSet`] work too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Set<T>(pub Vec<T>);

/// Creates an empty set, without requirements on the type of elements.
impl<T> Default for Set<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for Set<T> {
    fn from(elements: Vec<T>) -> Self {
        Self(elements)
    }
}

impl<T> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self(elements.into_iter().collect())
    }
}

fn elements<T: Field, C: FromIterator<T>>(values: &[Value], path: &mut Path) -> Result<C, ModelError> {
    let each = values.iter().enumerate().map(|(position, value)| {
        path.push(PathStep::Index(Value::number(position)));
        let element = T::from_value(value, path);
        path.pop();
        element
    });
    each.collect()
}

/// Elements of a set have no index, so errors refer to the set.
fn set_elements<T: Field, C: FromIterator<T>>(value: &Value, path: &mut Path) -> Result<C, ModelError> {
    let Kind::Set(values) = value.kind() else { return Err(wrong_type(value, "a set", path)) };
    values.iter().map(|value| T::from_value(value, path)).collect()
}

fn set_value<'a, T: Field + 'a>(elements: impl IntoIterator<Item = &'a T>) -> Value {
    Value::set(T::ty(), elements.into_iter().map(T::to_value).collect())
}

impl<T: Field> Field for Vec<T> {
    const ELEMENTS_HOLD_NULL: bool = T::HOLDS_NULL;
    const ELEMENTS_HOLD_UNKNOWN: bool = T::HOLDS_UNKNOWN;

    fn ty() -> Type {
        Type::list(T::ty())
    }

    fn shape() -> FieldShape {
        T::shape().inside(ObjectNesting::List, Self::ty())
    }

    fn to_value(&self) -> Value {
        Value::list(T::ty(), self.iter().map(T::to_value).collect())
    }

    fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
        match value.kind() {
            Kind::List(values) | Kind::Tuple(values) => elements(values, path),
            _ => Err(wrong_type(value, "a list", path)),
        }
    }
}

macro_rules! sets {
    ($($set:ident: $($bound:path),*;)*) => {$(
        impl<T: Field $(+ $bound)*> Field for $set<T> {
            fn ty() -> Type {
                Type::set(T::ty())
            }

            fn shape() -> FieldShape {
                T::shape().inside(ObjectNesting::Set, Self::ty())
            }

            fn to_value(&self) -> Value {
                set_value(self)
            }

            fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
                set_elements(value, path)
            }
        }
    )*};
}

impl<'a, T> IntoIterator for &'a Set<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> IntoIterator for Set<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

sets! {
    Set: ;
    BTreeSet: Ord;
    HashSet: Eq, Hash;
}

macro_rules! maps {
    ($($map:ident),*) => {$(
        impl<T: Field> Field for $map<String, T> {
            fn ty() -> Type {
                Type::map(T::ty())
            }

            fn shape() -> FieldShape {
                T::shape().inside(ObjectNesting::Map, Self::ty())
            }

            fn to_value(&self) -> Value {
                Value::map(T::ty(), self.iter().map(|(key, value)| (key.as_str(), value.to_value())))
            }

            fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
                let Some(map) = value.as_map() else { return Err(wrong_type(value, "a map", path)) };
                let each = map.iter().map(|(key, value)| {
                    path.push(PathStep::Index(Value::from(key)));
                    let element = T::from_value(value, path);
                    path.pop();
                    Ok((key.to_string(), element?))
                });
                each.collect()
            }
        }

        impl<M: Model> BlockField for $map<String, M> {
            type Model = M;
            const NESTING: Nesting = Nesting::Map;
        }
    )*};
}

maps!(BTreeMap, HashMap);

impl<M: Model> BlockField for Vec<M> {
    type Model = M;
    const NESTING: Nesting = Nesting::List;
}

impl<M: Model> BlockField for Set<M> {
    type Model = M;
    const NESTING: Nesting = Nesting::Set;
}

// An optional block is one with the nesting mode `Single`; a model itself is `Group`, which is never null.
impl<M: Model> BlockField for Option<M> {
    type Model = M;
    const NESTING: Nesting = Nesting::Single;
}
