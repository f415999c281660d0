//! The logical operators of expressions.

use super::{Operand, OperationError, boolean, unknown_bool};
use crate::value::Value;

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
