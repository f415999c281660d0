//! Logical operators of the language.

use super::{Operand, OperationError, boolean, unknown_bool};
use crate::value::Value;

/// `!a`
///
/// # Errors
/// If the operand is null or no truth value.
pub fn not(a: &Value) -> Result<Value, OperationError> {
    let result = match boolean(a)? {
        Operand::Known(value) => Value::bool(!value),
        Operand::Unknown => unknown_bool(),
    };
    Ok(result.with_marks(a.marks()))
}

/// `a && b`: false as soon as one of them is.
///
/// # Errors
/// If an operand is null or no truth value.
pub fn and(a: &Value, b: &Value) -> Result<Value, OperationError> {
    decided(a, b, false)
}

/// `a || b`: true as soon as one of them is.
///
/// # Errors
/// If an operand is null or no truth value.
pub fn or(a: &Value, b: &Value) -> Result<Value, OperationError> {
    decided(a, b, true)
}

/// The operation that one operand of the value `deciding` decides.
fn decided(a: &Value, b: &Value, deciding: bool) -> Result<Value, OperationError> {
    let result = match (boolean(a)?, boolean(b)?) {
        (Operand::Known(value), _) | (_, Operand::Known(value)) if value == deciding => Value::bool(deciding),
        (Operand::Known(_), Operand::Known(_)) => Value::bool(!deciding),
        _ => unknown_bool(),
    };
    Ok(result.with_marks(a.marks()).with_marks(b.marks()))
}
