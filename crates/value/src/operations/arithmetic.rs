//! Arithmetic operators of the language.

use super::{Operand, OperationError, number};
use crate::number::Number;
use crate::refinement::{Bound, Refinement};
use crate::types::Type;
use crate::value::Value;

type Binary = fn(&Number, &Number) -> Option<Number>;

/// `a + b`
///
/// # Errors
/// If an operand is null or no number, or both are infinities of opposite sign.
pub fn add(a: &Value, b: &Value) -> Result<Value, OperationError> {
    binary(a, b, Number::add, "can't compute sum of opposing infinities")
}

/// `a - b`
///
/// # Errors
/// If an operand is null or no number, or both are the same infinity.
pub fn subtract(a: &Value, b: &Value) -> Result<Value, OperationError> {
    binary(a, b, Number::subtract, "can't subtract infinity from itself")
}

/// `a * b`
///
/// # Errors
/// If an operand is null or no number, or one is zero and the other infinite.
pub fn multiply(a: &Value, b: &Value) -> Result<Value, OperationError> {
    binary(a, b, Number::multiply, "can't multiply zero by infinity")
}

/// `a / b`; division by zero gives an infinity.
///
/// # Errors
/// If an operand is null or no number, or both are zero or both infinite.
pub fn divide(a: &Value, b: &Value) -> Result<Value, OperationError> {
    const UNDEFINED: &str = "zero by zero and infinity by infinity have no quotient";
    binary(a, b, Number::divide, UNDEFINED)
}

/// `a % b`, with the sign of `a`; a modulus of zero leaves `a` as it is.
///
/// # Errors
/// If an operand is null or no number, or is infinite.
pub fn modulo(a: &Value, b: &Value) -> Result<Value, OperationError> {
    binary(a, b, Number::modulo, "can't use modulo with zero and infinity")
}

/// `-a`
///
/// # Errors
/// If the operand is null or no number.
pub fn negate(a: &Value) -> Result<Value, OperationError> {
    let result = match number(a)? {
        Operand::Known(number) => Value::number(number.negate()),
        Operand::Unknown => Value::refined(Type::Number, Refinement::NOT_NULL),
    };
    Ok(result.with_marks(a.marks()))
}

/// `a` without its sign
///
/// # Errors
/// If the operand is null or no number.
pub fn absolute(a: &Value) -> Result<Value, OperationError> {
    let result = match number(a)? {
        Operand::Known(number) => Value::number(number.absolute()),
        Operand::Unknown => {
            let range = Refinement::NOT_NULL.lower_bound(Bound::inclusive(Number::ZERO));
            Value::refined(Type::Number, range)
        }
    };
    Ok(result.with_marks(a.marks()))
}

/// Of what is unknown nothing is known but that it is not null, be the operands within bounds or not: so it is in Terraform, and a plan has to come
/// to the same.
fn binary(a: &Value, b: &Value, operation: Binary, undefined: &'static str) -> Result<Value, OperationError> {
    let result = match (number(a)?, number(b)?) {
        (Operand::Known(x), Operand::Known(y)) => {
            Value::number(operation(x, y).ok_or(OperationError::Undefined(undefined))?)
        }
        _ => Value::refined(Type::Number, Refinement::NOT_NULL),
    };
    Ok(result.with_marks(a.marks()).with_marks(b.marks()))
}
