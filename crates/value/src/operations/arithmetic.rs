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
/// If an operand is null or no number.
pub fn add(a: &Value, b: &Value) -> Result<Value, OperationError> {
    ranged(a, b, Number::add)
}

/// `a - b`
///
/// # Errors
/// If an operand is null or no number.
pub fn subtract(a: &Value, b: &Value) -> Result<Value, OperationError> {
    ranged(a, b, Number::subtract)
}

/// `a * b`
///
/// # Errors
/// If an operand is null or no number.
pub fn multiply(a: &Value, b: &Value) -> Result<Value, OperationError> {
    ranged(a, b, Number::multiply)
}

/// `a / b`
///
/// # Errors
/// If an operand is null or no number, or `b` is zero.
pub fn divide(a: &Value, b: &Value) -> Result<Value, OperationError> {
    if matches!(number(b)?, Operand::Known(divisor) if divisor.is_zero()) {
        number(a)?;
        return Err(OperationError::DivisionByZero);
    }
    binary(a, b, Number::divide, || Refinement::NOT_NULL)
}

/// `a % b`, with the sign of `a`
///
/// # Errors
/// If an operand is null or no number, or `b` is zero.
pub fn modulo(a: &Value, b: &Value) -> Result<Value, OperationError> {
    if matches!(number(b)?, Operand::Known(divisor) if divisor.is_zero()) {
        number(a)?;
        return Err(OperationError::DivisionByZero);
    }
    binary(a, b, Number::modulo, || Refinement::NOT_NULL)
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
    unknown: impl FnOnce() -> Refinement,
) -> Result<Value, OperationError> {
    let result = match (number(a)?, number(b)?) {
        (Operand::Known(x), Operand::Known(y)) => Value::number(operation(x, y).ok_or(OperationError::NotANumber)?),
        _ => Value::refined(Type::Number, unknown()),
    };
    Ok(result.with_marks(a.marks()).with_marks(b.marks()))
}

/// An operation whose result lies between those for the ends of its operands' ranges.
fn ranged(a: &Value, b: &Value, operation: Binary) -> Result<Value, OperationError> {
    binary(a, b, operation, || range(a, b, operation).unwrap_or(Refinement::NOT_NULL))
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
