//! The arithmetic operators of expressions.

use super::{Operand, OperationError, number};
use crate::number::Number;
use crate::refinement::{Bound, Refinement};
use crate::types::Type;
use crate::value::Value;

type Binary = fn(&Number, &Number) -> Option<Number>;

/// Evaluates `a + b`.
///
/// # Errors
/// Fails if an operand is null or not a number, or the operands are opposite infinities.
pub fn add(a: &Value, b: &Value) -> Result<Value, OperationError> {
    binary(a, b, Number::add, "can't compute sum of opposing infinities")
}

/// Evaluates `a - b`.
///
/// # Errors
/// Fails if an operand is null or not a number, or both are the same infinity.
pub fn subtract(a: &Value, b: &Value) -> Result<Value, OperationError> {
    binary(a, b, Number::subtract, "can't subtract infinity from itself")
}

/// Evaluates `a * b`.
///
/// # Errors
/// Fails if an operand is null or not a number, or one is zero and the other infinite.
pub fn multiply(a: &Value, b: &Value) -> Result<Value, OperationError> {
    binary(a, b, Number::multiply, "can't multiply zero by infinity")
}

/// Evaluates `a / b`; division by zero gives an infinity.
///
/// # Errors
/// Fails if an operand is null or not a number, or both are zero or both infinite.
pub fn divide(a: &Value, b: &Value) -> Result<Value, OperationError> {
    const UNDEFINED: &str = "can't divide zero by zero or infinity by infinity";
    binary(a, b, Number::divide, UNDEFINED)
}

/// Evaluates `a % b`, with the sign of `a`; a modulus of zero returns `a`.
///
/// # Errors
/// Fails if an operand is null, not a number, or infinite.
pub fn modulo(a: &Value, b: &Value) -> Result<Value, OperationError> {
    binary(a, b, Number::modulo, "can't use modulo with zero and infinity")
}

/// Evaluates the unary operator `-a`.
///
/// # Errors
/// Fails if the operand is null or not a number.
pub fn negate(a: &Value) -> Result<Value, OperationError> {
    let result = match number(a)? {
        Operand::Known(number) => Value::number(number.negate()),
        Operand::Unknown => Value::refined(Type::Number, Refinement::NOT_NULL),
    };
    Ok(result.with_marks(a.marks()))
}

/// Returns the absolute value of `a`.
///
/// # Errors
/// Fails if the operand is null or not a number.
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

/// Evaluates a binary operator. With an unknown operand the result is unknown and not null, even if the bounds of the
/// operands would imply bounds of the result: Terraform does not compute them, and plans must agree.
fn binary(a: &Value, b: &Value, operation: Binary, undefined: &'static str) -> Result<Value, OperationError> {
    let result = match (number(a)?, number(b)?) {
        (Operand::Known(x), Operand::Known(y)) => {
            Value::number(operation(x, y).ok_or(OperationError::Undefined(undefined))?)
        }
        _ => Value::refined(Type::Number, Refinement::NOT_NULL),
    };
    Ok(result.with_marks(a.marks()).with_marks(b.marks()))
}
