//! Equality of values regardless of their types and marks.

use std::hash::{DefaultHasher, Hash, Hasher};

use groma_value::{Kind, Value};

/// Whether both values are rendered identically. An unknown value equals no other.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a.kind(), b.kind()) {
        (Kind::Null, Kind::Null) => true,
        (Kind::Bool(a), Kind::Bool(b)) => a == b,
        (Kind::Number(a), Kind::Number(b)) => a == b,
        (Kind::String(a), Kind::String(b)) => a == b,
        (Kind::Map(a), Kind::Map(b)) => same_entries(a.iter(), b.iter()),
        (Kind::Map(a), Kind::Object(b)) => same_entries(a.iter(), b.iter()),
        (Kind::Object(a), Kind::Map(b)) => same_entries(a.iter(), b.iter()),
        (Kind::Object(a), Kind::Object(b)) => same_entries(a.iter(), b.iter()),
        _ => match (a.as_slice(), b.as_slice()) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            _ => false,
        },
    }
}

fn same_entries<'a>(
    a: impl ExactSizeIterator<Item = (&'a groma_value::Name, &'a Value)>,
    b: impl ExactSizeIterator<Item = (&'a groma_value::Name, &'a Value)>,
) -> bool {
    a.len() == b.len() && a.zip(b).all(|((a_key, a), (b_key, b))| a_key == b_key && same(a, b))
}

/// Returns a hash that is consistent with [`same`].
pub(super) fn digest(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher);
    hasher.finish()
}

fn feed(value: &Value, hasher: &mut DefaultHasher) {
    match value.kind() {
        Kind::Null => 0_u8.hash(hasher),
        Kind::Unknown(_) => 1_u8.hash(hasher),
        Kind::Bool(value) => (2_u8, value).hash(hasher),
        // Equal numbers have equal texts, whatever their representation.
        Kind::Number(number) => (3_u8, number.to_string()).hash(hasher),
        Kind::String(text) => (4_u8, text).hash(hasher),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            (5_u8, values.len()).hash(hasher);
            values.iter().for_each(|value| feed(value, hasher));
        }
        Kind::Map(map) => feed_entries(map.iter(), hasher),
        Kind::Object(object) => feed_entries(object.iter(), hasher),
    }
}

fn feed_entries<'a>(
    entries: impl ExactSizeIterator<Item = (&'a groma_value::Name, &'a Value)>,
    hasher: &mut DefaultHasher,
) {
    (6_u8, entries.len()).hash(hasher);
    for (key, value) in entries {
        key.hash(hasher);
        feed(value, hasher);
    }
}
