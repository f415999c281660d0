//! Values that may be null or unknown.

use groma_value::{Path, Type, Value};

use super::{Field, FieldShape, ModelError};

/// An attribute value that may be null or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Maybe<T> {
    /// The value is null.
    #[default]
    Null,
    /// The value is unknown until apply.
    Unknown,
    /// The value is known.
    Known(T),
}

impl<T> Maybe<T> {
    /// Returns the value if it is known and not null.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// Returns the owned value if it is known and not null.
    pub fn into_known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// Whether the value is unknown.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Replaces an unknown value by `value`: the way to fill in values that the provider chooses.
    #[must_use]
    pub fn or_chosen(self, value: impl FnOnce() -> T) -> Self {
        match self {
            Self::Unknown => Self::Known(value()),
            other => other,
        }
    }
}

impl<T> From<T> for Maybe<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T> From<Option<T>> for Maybe<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Known)
    }
}

impl<T: Field> Field for Maybe<T> {
    const HOLDS_NULL: bool = true;
    const HOLDS_UNKNOWN: bool = true;

    fn ty() -> Type {
        T::ty()
    }

    fn shape() -> FieldShape {
        T::shape()
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::null(T::ty()),
            Self::Unknown => Value::unknown(T::ty()),
            Self::Known(value) => value.to_value(),
        }
    }

    fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
        if value.is_null() {
            Ok(Self::Null)
        } else if !value.is_known() {
            Ok(Self::Unknown)
        } else {
            T::from_value(value, path).map(Self::Known)
        }
    }
}

impl<T: Field> Field for Option<T> {
    const HOLDS_NULL: bool = true;
    const HOLDS_UNKNOWN: bool = T::HOLDS_UNKNOWN;

    fn ty() -> Type {
        T::ty()
    }

    fn shape() -> FieldShape {
        T::shape()
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or_else(|| Value::null(T::ty()), T::to_value)
    }

    fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
        if value.is_null() { Ok(None) } else { T::from_value(value, path).map(Some) }
    }
}
