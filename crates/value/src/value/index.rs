//! Attributes, elements and lengths.

use super::kind::Kind;
use super::repr::{Repr, Value};
use crate::number::Number;
use crate::refinement::{Bound, Refinement};
use crate::types::Type;

/// The reason why a value has no such element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// The value is neither a list, tuple, map nor object.
    #[error("this value does not have any indices")]
    NotIndexable,
    /// The value is null.
    #[error("the value is null, so it has no elements")]
    NullCollection,
    /// The key is null.
    #[error("the key is null, so it names no element")]
    NullKey,
    /// The key has the wrong type.
    #[error("{} required", .0.friendly_name())]
    WrongKey(Type),
    /// The position is not a whole number.
    #[error("elements have whole numbers, and the index has a fraction")]
    Fractional,
    /// The position is below zero.
    #[error("elements are counted from 0, and the index is negative")]
    Negative,
    /// There is no such element.
    #[error("there is no element with this key")]
    Missing,
}

/// The length of an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub enum Length {
    /// Exactly this number of elements.
    Known(usize),
    /// An unknown number; its refinement is in the value.
    Unknown(Value),
}

impl Value {
    /// An attribute of an object, with the object's marks added. Nothing if the object has no such attribute or is
    /// null; unknown if the object is.
    pub fn attribute(&self, name: &str) -> Option<Value> {
        let attribute = match &self.bare().0 {
            Repr::Object(object) => object.shape.position(name).and_then(|at| object.values.get(at)).cloned(),
            Repr::Unknown(unknown) => unknown.ty.as_object()?.attribute(name).cloned().map(Value::unknown),
            Repr::Bare(_) if self.has_type(&Type::Dynamic) => Some(Value::DYNAMIC),
            _ => None,
        };
        Some(attribute?.with_marks(self.marks()))
    }

    /// An element of a list, tuple, map or object, with the marks of the value and of the key added; unknown if the
    /// value or the key is.
    ///
    /// # Errors
    /// If there is no such element.
    pub fn element(&self, key: &Value) -> Result<Value, IndexError> {
        let marks = self.marks().union(key.marks());
        element(self.bare(), key.bare()).map(|element| element.with_marks(&marks))
    }

    /// The element of a set that equals this one.
    pub(crate) fn member(&self, element: &Value) -> Result<Value, IndexError> {
        let Kind::Set(values) = self.kind() else { return Err(IndexError::NotIndexable) };
        if !element.is_wholly_known() {
            let Some(ty) = self.ty().element().cloned() else { return Err(IndexError::NotIndexable) };
            return Ok(Value::unknown(ty).with_marks(self.marks()));
        }
        values
            .iter()
            .find(|value| *value == element)
            .map(|value| value.clone().with_marks(self.marks()))
            .ok_or(IndexError::Missing)
    }

    /// Keys and elements of a known list, set, tuple, map or object, in order. The key of a set's element is the
    /// element itself. Marks of the value itself are not on them. Nothing comes of other values.
    pub fn elements(&self) -> impl Iterator<Item = (Value, Value)> + use<> {
        let bare = self.bare().clone();
        let mut at = 0;
        std::iter::from_fn(move || {
            let pair = pair_at(&bare, at)?;
            at += 1;
            Some(pair)
        })
    }

    /// The number of elements of a list, set, tuple, map or object; nothing for other values and nulls.
    /// A set with unknown elements has an unknown length, since they may turn out equal.
    pub fn length(&self) -> Option<Length> {
        Some(match self.kind() {
            Kind::List(values) | Kind::Tuple(values) => Length::Known(values.len()),
            Kind::Set(values) if values.len() <= 1 || self.is_wholly_known() => Length::Known(values.len()),
            Kind::Set(values) => Length::Unknown(number_between(1, Some(values.len() as u64))),
            Kind::Map(map) => Length::Known(map.len()),
            Kind::Object(object) => Length::Known(object.len()),
            Kind::Unknown(refinement) => match self.ty() {
                Type::Tuple(elements) => Length::Known(elements.len()),
                Type::Object(object) => Length::Known(object.len()),
                Type::List(_) | Type::Set(_) | Type::Map(_) => {
                    Length::Unknown(number_between(refinement.least_length(), refinement.greatest_length()))
                }
                Type::Dynamic => Length::Unknown(number_between(0, None)),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The length as a value, with the marks of this one: see [`Value::length`].
    pub fn len(&self) -> Option<Value> {
        let length = match self.length()? {
            Length::Known(length) => Value::number(length),
            Length::Unknown(value) => value,
        };
        Some(length.with_marks(self.marks()))
    }

    /// Whether this is known to be a list, set, tuple, map or object without elements.
    pub fn is_empty(&self) -> bool {
        self.length() == Some(Length::Known(0))
    }

    /// Returns the number of stored elements: as [`Value::length`], but unknown elements of a set, which may turn out equal, count too.
    pub fn held_length(&self) -> Option<usize> {
        match self.kind() {
            Kind::List(values) | Kind::Tuple(values) | Kind::Set(values) => Some(values.len()),
            Kind::Map(map) => Some(map.len()),
            Kind::Object(object) => Some(object.len()),
            _ => None,
        }
    }
}

fn number_between(least: u64, greatest: Option<u64>) -> Value {
    let mut range = Refinement::NOT_NULL.lower_bound(Bound::inclusive(least));
    // An absent upper bound counts as the largest machine integer, as it shows in plans.
    range = range.upper_bound(Bound::inclusive(greatest.unwrap_or(i64::MAX as u64)));
    Value::refined(Type::Number, range)
}

fn pair_at(value: &Value, at: usize) -> Option<(Value, Value)> {
    match &value.0 {
        Repr::List(sequence) => Some((Value::number(at), sequence.values.get(at)?.clone())),
        Repr::Tuple(tuple) => Some((Value::number(at), tuple.values.get(at)?.clone())),
        Repr::Set(set) => set.values.get(at).map(|element| (element.clone(), element.clone())),
        Repr::Map(map) => Some((named(map.keys.names().get(at)?), map.values.get(at)?.clone())),
        Repr::Object(object) => Some((named(object.shape.names().get(at)?), object.values.get(at)?.clone())),
        _ => None,
    }
}

fn named(name: &crate::Name) -> Value {
    Value(Repr::String(name.clone()))
}

fn element(value: &Value, key: &Value) -> Result<Value, IndexError> {
    match (&value.0, value.ty()) {
        (Repr::Null(_), _) => Err(IndexError::NullCollection),
        (_, Type::Dynamic) => Ok(Value::DYNAMIC),
        (_, Type::List(element)) => {
            let Some(position) = position(key)? else { return Ok(Value::unknown((*element).clone())) };
            match &value.0 {
                Repr::List(list) => list.values.get(position).cloned().ok_or(IndexError::Missing),
                _ => Ok(Value::unknown((*element).clone())),
            }
        }
        (_, Type::Tuple(types)) => {
            let Some(position) = position(key)? else { return Ok(Value::DYNAMIC) };
            match &value.0 {
                Repr::Tuple(tuple) => tuple.values.get(position).cloned().ok_or(IndexError::Missing),
                _ => types.get(position).cloned().map(Value::unknown).ok_or(IndexError::Missing),
            }
        }
        (_, Type::Map(element)) => {
            let Some(name) = name(key)? else { return Ok(Value::unknown((*element).clone())) };
            match &value.0 {
                Repr::Map(map) => {
                    let at = map.keys.position(name).ok_or(IndexError::Missing)?;
                    map.values.get(at).cloned().ok_or(IndexError::Missing)
                }
                _ => Ok(Value::unknown((*element).clone())),
            }
        }
        (_, Type::Object(_)) => {
            let Some(name) = name(key)? else { return Ok(Value::DYNAMIC) };
            value.attribute(name).ok_or(IndexError::Missing)
        }
        _ => Err(IndexError::NotIndexable),
    }
}

/// Converts a key to a position; `None` if it is unknown.
fn position(key: &Value) -> Result<Option<usize>, IndexError> {
    let number: &Number = match key.kind() {
        Kind::Null => return Err(IndexError::NullKey),
        Kind::Unknown(_) if key.has_type(&Type::Number) || key.has_type(&Type::Dynamic) => return Ok(None),
        Kind::Number(number) => number,
        _ => return Err(IndexError::WrongKey(Type::Number)),
    };
    if !number.is_integer() {
        return Err(IndexError::Fractional);
    }
    if number.sign() < 0 {
        return Err(IndexError::Negative);
    }
    number.to_usize().map(Some).ok_or(IndexError::Missing)
}

/// Converts a key to a name; `None` if it is unknown.
fn name(key: &Value) -> Result<Option<&str>, IndexError> {
    match key.kind() {
        Kind::Null => Err(IndexError::NullKey),
        Kind::Unknown(_) if key.has_type(&Type::String) || key.has_type(&Type::Dynamic) => Ok(None),
        Kind::String(text) => Ok(Some(text)),
        _ => Err(IndexError::WrongKey(Type::String)),
    }
}
