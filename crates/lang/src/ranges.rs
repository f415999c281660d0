//! Refinements of unknown values.

use std::cmp::Ordering;

use groma_value::{Bound, Refinement, Type, Value};

/// The longest beginning of a string that is remembered; longer ones say little more and cost in every plan.
const LONGEST_PREFIX: usize = 128;

/// An unknown value of type `ty` that is either of two: what holds for both holds for it.
pub(crate) fn either(one: &Value, other: &Value, ty: Type) -> Value {
    let (one, other) = (one.range().refinement, other.range().refinement);
    let mut both = Refinement::NONE;
    if one.is_not_null() && other.is_not_null() {
        both = both.not_null();
    }
    // A bound holds for the result only if each of the two values has one.
    if let (Some(one), Some(other)) = (one.lower(), other.lower()) {
        both = both.lower_bound(looser(one, other, Ordering::Less));
    }
    if let (Some(one), Some(other)) = (one.upper(), other.upper()) {
        both = both.upper_bound(looser(one, other, Ordering::Greater));
    }
    both = both.minimum_length(one.least_length().min(other.least_length()));
    if let (Some(one), Some(other)) = (one.greatest_length(), other.greatest_length()) {
        both = both.maximum_length(one.max(other));
    }
    Value::refined(ty, both)
}

/// The bound that leaves more room: the lesser or the greater one.
fn looser(one: &Bound, other: &Bound, outside: Ordering) -> Bound {
    match one.value.cmp(&other.value) {
        Ordering::Equal => Bound { value: one.value.clone(), inclusive: one.inclusive || other.inclusive },
        order if order == outside => one.clone(),
        _ => other.clone(),
    }
}

/// An unknown list of type `ty` with as many elements as `source` has.
pub(crate) fn as_long_as(source: &Value, ty: Type) -> Value {
    let known = source.range().refinement;
    let mut length = Refinement::NOT_NULL.minimum_length(known.least_length());
    if let Some(greatest) = known.greatest_length() {
        length = length.maximum_length(greatest);
    }
    Value::refined(ty, length)
}

/// An unknown string that starts with `known`.
pub(crate) fn with_prefix(known: &str) -> Value {
    let mut end = known.len().min(LONGEST_PREFIX);
    // The cut must not fall within a character.
    while !known.is_char_boundary(end) {
        end -= 1;
    }
    Value::refined(Type::String, Refinement::NOT_NULL.prefix(known.get(..end).unwrap_or_default()))
}

/// Returns the known prefix of a string.
pub(crate) fn prefix(value: &Value) -> String {
    value.range().refinement.known_prefix().to_owned()
}
