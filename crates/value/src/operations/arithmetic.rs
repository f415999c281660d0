//! Arithmetic.

use super::{Operand, OperationError, bounds, number};
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
    ranged(a, b, Number::add, "can't compute sum of opposing infinities")
}

/// `a - b`
///
/// # Errors
/// If an operand is null or no number, or both are the same infinity.
pub fn subtract(a: &Value, b: &Value) -> Result<Value, OperationError> {
    ranged(a, b, Number::subtract, "can't subtract infinity from itself")
}

/// `a * b`
///
/// # Errors
/// If an operand is null or no number, or one is zero and the other infinite.
pub fn multiply(a: &Value, b: &Value) -> Result<Value, OperationError> {
    ranged(a, b, Number::multiply, "can't multiply zero by infinity")
}

/// `a / b`; division by zero gives an infinity.
///
/// # Errors
/// If an operand is null or no number, or both are zero or both infinite.
pub fn divide(a: &Value, b: &Value) -> Result<Value, OperationError> {
    const UNDEFINED: &str = "zero by zero and infinity by infinity have no quotient";
    binary(a, b, Number::divide, UNDEFINED, || Refinement::NOT_NULL)
}

/// `a % b`, with the sign of `a`; a modulus of zero leaves `a` as it is.
///
/// # Errors
/// If an operand is null or no number, or is infinite.
pub fn modulo(a: &Value, b: &Value) -> Result<Value, OperationError> {
    binary(a, b, Number::modulo, "can't use modulo with zero and infinity", || Refinement::NOT_NULL)
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

fn binary(
    a: &Value,
    b: &Value,
    operation: Binary,
    undefined: &'static str,
    unknown: impl FnOnce() -> Refinement,
) -> Result<Value, OperationError> {
    let result = match (number(a)?, number(b)?) {
        (Operand::Known(x), Operand::Known(y)) => {
            Value::number(operation(x, y).ok_or(OperationError::Undefined(undefined))?)
        }
        _ => Value::refined(Type::Number, unknown()),
    };
    Ok(result.with_marks(a.marks()).with_marks(b.marks()))
}

/// An operation whose result lies between those for the ends of its operands' ranges.
fn ranged(a: &Value, b: &Value, operation: Binary, undefined: &'static str) -> Result<Value, OperationError> {
    binary(a, b, operation, undefined, || range(a, b, operation).unwrap_or(Refinement::NOT_NULL))
}

fn range(a: &Value, b: &Value, operation: Binary) -> Option<Refinement> {
    let ((a_low, a_high), (b_low, b_high)) = (bounds(a)?, bounds(b)?);
    let corners = [
        operation(&a_low, &b_low)?,
        operation(&a_low, &b_high)?,
        operation(&a_high, &b_low)?,
        operation(&a_high, &b_high)?,
    ];
    let lowest = corners.iter().min()?.clone();
    let highest = corners.iter().max()?.clone();
    Some(Refinement::NOT_NULL.lower_bound(Bound::inclusive(lowest)).upper_bound(Bound::inclusive(highest)))
}
