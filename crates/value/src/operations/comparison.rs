//! The logical and comparison operators of expressions.

use super::{Operand, OperationError, boolean, bounds, number, unknown_bool};
use crate::value::Value;

/// Evaluates `a == b`.
pub fn equal(a: &Value, b: &Value) -> Value {
    a.equals(b)
}

/// Evaluates `a != b`.
pub fn not_equal(a: &Value, b: &Value) -> Value {
    let equal = a.equals(b);
    // `equals` always returns a bool, known or not, so `not` cannot fail.
    not(&equal).unwrap_or(equal)
}

/// Evaluates `a < b`. Unknown numbers with disjoint bounds have a known result.
///
/// # Errors
/// Fails if an operand is null or not a number.
pub fn less_than(a: &Value, b: &Value) -> Result<Value, OperationError> {
    let result = match (number(a)?, number(b)?) {
        (Operand::Known(x), Operand::Known(y)) => Value::bool(x < y),
        _ => match (bounds(a), bounds(b)) {
            // Only strictly disjoint ranges decide: if the bounds touch, both numbers can be equal.
            (Some((_, a_high)), Some((b_low, _))) if a_high < b_low => Value::TRUE,
            (Some((a_low, _)), Some((_, b_high))) if a_low > b_high => Value::FALSE,
            _ => unknown_bool(),
        },
    };
    Ok(result.with_marks(a.marks()).with_marks(b.marks()))
}

/// Evaluates `a > b`.
///
/// # Errors
/// Fails if an operand is null or not a number.
pub fn greater_than(a: &Value, b: &Value) -> Result<Value, OperationError> {
    less_than(b, a)
}

/// Evaluates `a <= b`.
///
/// # Errors
/// Fails if an operand is null or not a number.
pub fn less_than_or_equal(a: &Value, b: &Value) -> Result<Value, OperationError> {
    or(&less_than(a, b)?, &a.equals(b))
}

/// Evaluates `a >= b`.
///
/// # Errors
/// Fails if an operand is null or not a number.
pub fn greater_than_or_equal(a: &Value, b: &Value) -> Result<Value, OperationError> {
    or(&greater_than(a, b)?, &a.equals(b))
}

/// Evaluates `!a`; unknown for an unknown operand.
///
/// # Errors
/// Fails if the operand is null or not a bool.
pub fn not(a: &Value) -> Result<Value, OperationError> {
    let result = match boolean(a)? {
        Operand::Known(value) => Value::bool(!value),
        Operand::Unknown => unknown_bool(),
    };
    Ok(result.with_marks(a.marks()))
}

/// Evaluates `a && b`; a known `false` decides even if the other operand is unknown.
///
/// # Errors
/// Fails if an operand is null or not a bool.
pub fn and(a: &Value, b: &Value) -> Result<Value, OperationError> {
    decided(a, b, false)
}

/// Evaluates `a || b`; a known `true` decides even if the other operand is unknown.
///
/// # Errors
/// Fails if an operand is null or not a bool.
pub fn or(a: &Value, b: &Value) -> Result<Value, OperationError> {
    decided(a, b, true)
}

/// Evaluates an operator that one operand of the value `deciding` decides.
fn decided(a: &Value, b: &Value, deciding: bool) -> Result<Value, OperationError> {
    let result = match (boolean(a)?, boolean(b)?) {
        (Operand::Known(value), _) | (_, Operand::Known(value)) if value == deciding => Value::bool(deciding),
        (Operand::Known(_), Operand::Known(_)) => Value::bool(!deciding),
        _ => unknown_bool(),
    };
    Ok(result.with_marks(a.marks()).with_marks(b.marks()))
}
