//! Values as a plan carries them.

use groma_value::{Number, Value};

/// An output's value as a plan carries it from its making to its apply, in a file or not: that is what is shown and stored of it.
pub fn carried(value: Value) -> Value {
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
