//! Saying why a type does not fit.

use super::find::{Conversion, Safety};
use crate::Name;
use crate::types::{ObjectType, Type};

/// Describes why values of `got` cannot be converted to `want`. Must not be called for convertible types.
pub fn mismatch(got: &Type, want: &Type) -> String {
    match (got, want) {
        (Type::Object(got), Type::Object(want)) => objects(got, want),
        (Type::Tuple(_), Type::List(element)) if **element == Type::Dynamic => {
            "the elements of a list must all be of one type".into()
        }
        (Type::Tuple(_), Type::Set(element)) if **element == Type::Dynamic => {
            "the elements of a set must all be of one type".into()
        }
        (Type::Object(_), Type::Map(element)) if **element == Type::Dynamic => {
            "the elements of a map must all be of one type".into()
        }
        (Type::Tuple(got), Type::List(element) | Type::Set(element)) => tuple_elements(got, element),
        (Type::Object(got), Type::Map(element)) => object_elements(got, element),
        (Type::List(got) | Type::Set(got), Type::List(element)) => elements("list", got, element),
        (Type::List(got) | Type::Set(got), Type::Set(element)) => elements("set", got, element),
        (Type::Map(got), Type::Map(element)) => elements("map", got, element),
        _ if (matches!(got, Type::Tuple(_) | Type::Object(_)) || got.is_collection()) && want.is_collection() => {
            required(want)
        }
        _ if tells_more(got, want) => format!("{} required, but have {}", want.friendly_name(), got.friendly_name()),
        _ => required(want),
    }
}

fn required(want: &Type) -> String {
    format!("{} required", want.constraint_name())
}

/// Whether naming both types helps rather than leads astray: where text might be a number or a truth value, it is the
/// value that is wrong, not the type.
fn tells_more(got: &Type, want: &Type) -> bool {
    got.is_primitive() != want.is_primitive()
        || matches!(want, Type::String)
        || matches!((got, want), (Type::Bool, Type::Number) | (Type::Number, Type::Bool))
        || matches!((got, want), (Type::Tuple(_), Type::Object(_)))
}

fn elements(kind: &str, got: &Type, want: &Type) -> String {
    format!("incorrect {kind} element type: {}", mismatch(got, want))
}

fn convertible(got: &Type, want: &Type, safety: Safety) -> bool {
    got == want || Conversion::find(got, want, safety).is_some()
}

fn tuple_elements(got: &[Type], want: &Type) -> String {
    match got.iter().enumerate().find(|(_, got)| !convertible(got, want, Safety::Unsafe)) {
        Some((at, got)) => format!("element {at}: {}", mismatch(got, want)),
        None => format!("all elements must be {}", want.constraint_name()),
    }
}

fn object_elements(got: &ObjectType, want: &Type) -> String {
    match got.iter().find(|(_, got)| !convertible(got, want, Safety::Unsafe)) {
        Some((name, got)) => format!("element {name:?}: {}", mismatch(got, want)),
        None => format!("all elements must be {}", want.constraint_name()),
    }
}

fn objects(got: &ObjectType, want: &ObjectType) -> String {
    let missing: Vec<&Name> = want
        .iter()
        .map(|(name, _)| name)
        .filter(|name| got.attribute(name).is_none() && !want.is_optional(name))
        .collect();
    match missing.as_slice() {
        [] => {}
        [name] => return format!("attribute {name:?} is required"),
        [first, second] => return format!("attributes {first:?} and {second:?} are required"),
        [first @ .., last] => {
            let first: String = first.iter().map(|name| format!("{name:?}, ")).collect();
            return format!("attributes {first}and {last:?} are required");
        }
    }
    // Parts that can never fit are worth more words than those that might not.
    for safety in [Safety::Unsafe, Safety::Safe] {
        for (name, want) in want.iter() {
            if let Some(got) = got.attribute(name)
                && !convertible(got, want, safety)
            {
                return format!("attribute {name:?}: {}", mismatch(got, want));
            }
        }
    }
    "incorrect object attributes".into()
}
