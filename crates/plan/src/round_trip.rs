//! Values after a round trip through a plan file.

use groma_value::{Number, Value};

/// Returns an output's value as a plan file preserves it. Plans that are not saved use the same value, so that output and state do
/// not depend on the way of applying.
pub fn after_round_trip(value: Value) -> Value {
    let of_number = |part: &Value| part.as_number().and_then(Number::after_round_trip);
    let mut differs = false;
    value.walk(|_, part| {
        differs |= of_number(part).is_some();
        !differs
    });
    if !differs {
        return value;
    }
    value.transform(|_, part| match of_number(&part) {
        Some(number) => Value::number(number).with_marks(part.marks()),
        None => part,
    })
}
