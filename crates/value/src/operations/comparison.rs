//! Comparison operators of the language.

use super::{Operand, OperationError, bounds, logic, number, unknown_bool};
use crate::value::Value;

/// `a == b`
pub fn equal(a: &Value, b: &Value) -> Value {
    a.equals(b)
}

/// `a != b`
pub fn not_equal(a: &Value, b: &Value) -> Value {
    let equal = a.equals(b);
    logic::not(&equal).unwrap_or(equal)
}

/// `a < b`
///
/// # Errors
/// If an operand is null or no number.
pub fn less_than(a: &Value, b: &Value) -> Result<Value, OperationError> {
    let result = match (number(a)?, number(b)?) {
        (Operand::Known(x), Operand::Known(y)) => Value::bool(x < y),
        _ => match (bounds(a), bounds(b)) {
            (Some((_, a_high)), Some((b_low, _))) if a_high < b_low => Value::TRUE,
            (Some((a_low, _)), Some((_, b_high))) if a_low > b_high => Value::FALSE,
            _ => unknown_bool(),
        },
    };
    Ok(result.with_marks(a.marks()).with_marks(b.marks()))
}

/// `a > b`
///
/// # Errors
/// If an operand is null or no number.
pub fn greater_than(a: &Value, b: &Value) -> Result<Value, OperationError> {
    less_than(b, a)
}

/// `a <= b`
///
/// # Errors
/// If an operand is null or no number.
pub fn less_than_or_equal(a: &Value, b: &Value) -> Result<Value, OperationError> {
    logic::or(&less_than(a, b)?, &a.equals(b))
}

/// `a >= b`
///
/// # Errors
/// If an operand is null or no number.
pub fn greater_than_or_equal(a: &Value, b: &Value) -> Result<Value, OperationError> {
    logic::or(&greater_than(a, b)?, &a.equals(b))
}
