//! The operators of expressions, for known, unknown, refined and marked operands.
//!
//! The caller converts operands to the operator's type first; a dynamic unknown operand counts as unknown of that
//! type. A result has the marks of all operands and is never null.

mod arithmetic;
mod comparison;
mod template;

pub use arithmetic::{absolute, add, divide, modulo, multiply, negate, subtract};
pub use comparison::{and, not, or};
pub use comparison::{equal, greater_than, greater_than_or_equal, less_than, less_than_or_equal, not_equal};
pub use template::{TemplateBuilder, TemplateError};

use crate::types::Type;
use crate::value::{Kind, Value};

/// The error of an operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// An operand is null.
    #[error("argument must not be null")]
    Null,
    /// An operand has the wrong type.
    #[error("{} required", .0.friendly_name())]
    WrongType(Type),
    /// The operation has no result for these numbers.
    #[error("{0}")]
    Undefined(&'static str),
}

/// An operand without its marks.
enum Operand<T> {
    Known(T),
    Unknown,
}

fn boolean(value: &Value) -> Result<Operand<bool>, OperationError> {
    match value.kind() {
        Kind::Bool(value) => Ok(Operand::Known(value)),
        Kind::Null => Err(OperationError::Null),
        // Any other unknown operand fails now, since no later value of that type could be valid.
        Kind::Unknown(_) if value.has_type(&Type::Bool) || value.has_type(&Type::Dynamic) => Ok(Operand::Unknown),
        _ => Err(OperationError::WrongType(Type::Bool)),
    }
}

fn number(value: &Value) -> Result<Operand<&crate::Number>, OperationError> {
    match value.kind() {
        Kind::Number(number) => Ok(Operand::Known(number)),
        Kind::Null => Err(OperationError::Null),
        Kind::Unknown(_) if value.has_type(&Type::Number) || value.has_type(&Type::Dynamic) => Ok(Operand::Unknown),
        _ => Err(OperationError::WrongType(Type::Number)),
    }
}

fn unknown_bool() -> Value {
    Value::unknown(Type::Bool).not_null()
}

/// The lowest and highest number that a value can be; `None` if it may not be a number.
fn bounds(value: &Value) -> Option<(crate::Number, crate::Number)> {
    match value.kind() {
        Kind::Number(number) => Some((number.clone(), number.clone())),
        Kind::Unknown(refinement) if value.has_type(&Type::Number) => {
            // An open bound is read as a closed one. This only widens the range, so comparisons stay correct.
            let low = refinement.lower().map_or_else(crate::Number::negative_infinity, |bound| bound.value.clone());
            let high = refinement.upper().map_or_else(crate::Number::infinity, |bound| bound.value.clone());
            Some((low, high))
        }
        _ => None,
    }
}
