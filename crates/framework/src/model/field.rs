//! Field types of models.

use std::marker::PhantomData;

use groma_provider::{Nesting, ObjectNesting, ProviderDiagnostics};
use groma_value::{Number, Path, Type, Value};

use super::{Model, ModelError};
use crate::Name;
use crate::schema::validators::refused;
use crate::schema::{Attribute, NestedBlock, Validator, ValidatorRequest};

/// The attribute type of a field.
pub enum FieldShape {
    /// A value of a type.
    Plain(Type),
    /// One nested object with attributes of its own.
    Object(Vec<(Name, Attribute)>),
    /// Nested objects in a collection.
    Nested(ObjectNesting, Vec<(Name, Attribute)>),
}

impl FieldShape {
    /// Returns the attribute type of a collection of this; `ty` is the type of the collection.
    pub(super) fn inside(self, nesting: ObjectNesting, ty: Type) -> Self {
        match self {
            Self::Object(attributes) => Self::Nested(nesting, attributes),
            // Schemas know nested attributes of one level of collections only; deeper ones are plain types.
            Self::Plain(_) | Self::Nested(..) => Self::Plain(ty),
        }
    }
}

/// A type for the fields of a model.
pub trait Field: Sized + 'static {
    /// Whether the field can hold null.
    const HOLDS_NULL: bool = false;
    /// Whether the field can hold an unknown value.
    const HOLDS_UNKNOWN: bool = false;
    /// Whether the elements of a list can be null.
    const ELEMENTS_HOLD_NULL: bool = false;
    /// Whether the elements of a list can be unknown.
    const ELEMENTS_HOLD_UNKNOWN: bool = false;

    /// Returns the type of the values.
    fn ty() -> Type;

    /// Returns the attribute type.
    fn shape() -> FieldShape {
        FieldShape::Plain(Self::ty())
    }

    /// Converts the field to a value.
    fn to_value(&self) -> Value;

    /// Converts the value at `path` to a field.
    ///
    /// # Errors
    ///
    /// Fails if the field cannot hold the value.
    fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError>;
}

/// A type for fields that represent nested blocks.
pub trait BlockField: Field {
    /// The model of one block.
    type Model: Model;
    /// The nesting mode of the blocks.
    const NESTING: Nesting;
}

/// Returns the attribute for a field of the type `T`, optional by default.
pub fn attribute<T: Field>() -> Attribute {
    match T::shape() {
        FieldShape::Plain(ty @ (Type::String | Type::Bool | Type::Dynamic)) => Attribute::new(ty),
        // A number can be too large for the field, an element null: better said of the configuration than of the
        // provider.
        FieldShape::Plain(ty) => Attribute::new(ty).validator(ModelValidator::<T>(PhantomData)),
        FieldShape::Object(attributes) => Attribute::nested(ObjectNesting::Single, attributes),
        FieldShape::Nested(nesting, attributes) => Attribute::nested(nesting, attributes),
    }
}

/// A validator that requires a value that the field can hold.
struct ModelValidator<T>(PhantomData<fn() -> T>);

impl<T: Field> Validator for ModelValidator<T> {
    fn description(&self) -> String {
        "must be a value that the provider can work with".to_owned()
    }

    fn validate(&self, request: &ValidatorRequest<'_>) -> ProviderDiagnostics {
        // The unknown part may become a value that fits.
        if !request.value.is_wholly_known() {
            return ProviderDiagnostics::new();
        }
        match T::from_value(request.value, &mut request.path.clone()) {
            Ok(_) => ProviderDiagnostics::new(),
            Err(problem) => refused(problem.path, format!("The value {}.", problem.demand)),
        }
    }
}

/// Returns the nested block type for a field of the type `T`.
pub fn block<T: BlockField>() -> NestedBlock {
    let mut block = NestedBlock::new(T::NESTING, T::Model::attributes());
    // Blocks may contain further blocks, unlike nested attributes.
    for (name, inner) in T::Model::blocks() {
        block = block.block(name, inner);
    }
    let description = T::Model::description();
    if description.is_empty() { block } else { block.described(description) }
}

/// Creates the error for a value that the field cannot hold.
pub(super) fn wrong_type(value: &Value, wanted: &str, path: &Path) -> ModelError {
    // Two texts: the message names the Rust type for the developer, the demand says what a user can do.
    let message = if value.is_null() {
        format!("the value is null, and the field wants {wanted}: declare it as Option<...>")
    } else if !value.is_known() {
        format!("the value is known after apply only, and the field wants {wanted}: declare it as Maybe<...>")
    } else {
        format!("the field wants {wanted}, and there is {}", value.ty().friendly_name())
    };
    let demand = format!("must be {wanted}{}", if value.is_null() { ", not null" } else { "" });
    ModelError { demand, ..ModelError::new(path, message) }
}

impl Field for String {
    fn ty() -> Type {
        Type::String
    }

    fn to_value(&self) -> Value {
        Value::string(self)
    }

    fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
        value.as_str().map(str::to_owned).ok_or_else(|| wrong_type(value, "a string", path))
    }
}

impl Field for bool {
    fn ty() -> Type {
        Type::Bool
    }

    fn to_value(&self) -> Value {
        Value::bool(*self)
    }

    fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
        value.as_bool().ok_or_else(|| wrong_type(value, "true or false", path))
    }
}

impl Field for Number {
    fn ty() -> Type {
        Type::Number
    }

    fn to_value(&self) -> Value {
        Value::number(self.clone())
    }

    fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
        value.as_number().cloned().ok_or_else(|| wrong_type(value, "a number", path))
    }
}

/// A value of any type, including null and unknown values.
impl Field for Value {
    const HOLDS_NULL: bool = true;
    const HOLDS_UNKNOWN: bool = true;

    fn ty() -> Type {
        Type::Dynamic
    }

    fn to_value(&self) -> Value {
        self.clone()
    }

    fn from_value(value: &Value, _: &mut Path) -> Result<Self, ModelError> {
        Ok(value.clone())
    }
}

macro_rules! whole_numbers {
    ($($ty:ty, $read:ident;)*) => {$(
        impl Field for $ty {
            fn ty() -> Type {
                Type::Number
            }

            fn to_value(&self) -> Value {
                Value::number(*self)
            }

            fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
                let wanted = format!("a whole number from {} to {}", <$ty>::MIN, <$ty>::MAX);
                let number = value.as_number().ok_or_else(|| wrong_type(value, &wanted, path))?;
                let whole = number.$read().and_then(|number| <$ty>::try_from(number).ok());
                whole.ok_or_else(|| ModelError {
                    demand: format!("must be {wanted}"),
                    ..ModelError::new(path, format!("the field wants {wanted}, and the number is not"))
                })
            }
        }
    )*};
}

whole_numbers! {
    i8, to_i64; i16, to_i64; i32, to_i64; i64, to_i64; isize, to_i64;
    u8, to_u64; u16, to_u64; u32, to_u64; u64, to_u64; usize, to_u64;
}

macro_rules! fractions {
    ($($ty:ty),*) => {$(
        impl Field for $ty {
            fn ty() -> Type {
                Type::Number
            }

            /// A float that is not a number (NaN) has no value in the language: it becomes null.
            fn to_value(&self) -> Value {
                Number::from_f64(f64::from(*self)).map_or_else(|| Value::null(Type::Number), Value::number)
            }

            #[allow(clippy::cast_possible_truncation, reason = "the nearest number that the field can hold")]
            fn from_value(value: &Value, path: &mut Path) -> Result<Self, ModelError> {
                let number = value.as_number().ok_or_else(|| wrong_type(value, "a number", path))?;
                Ok(number.to_f64() as $ty)
            }
        }
    )*};
}

fractions!(f32, f64);
