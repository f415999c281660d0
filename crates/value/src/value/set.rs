//! Construction, membership and element order of sets.
//!
//! Elements are stored in Terraform's iteration order: primitive values by value, other elements by a textual rendering
//! of their content. Unknown elements follow known ones, and nulls come last.

use groma_diagnostics::write_quoted;

use super::build::element_type_of;
use super::kind::Kind;
use super::repr::Value;
use crate::marks::Marks;
use crate::types::Type;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

impl Value {
    /// Creates a set. Elements must have the element type; untyped nulls and unknowns take it on. Equal elements are
    /// merged. Marks on and inside elements move to the set, because set elements have no paths.
    pub fn set(element: Type, values: Vec<Value>) -> Value {
        Value::set_of(element.shared(), values)
    }

    /// Creates a set like [`Value::set`], with a shared element type.
    pub fn set_of(element: Arc<Type>, values: Vec<Value>) -> Value {
        let element = element_type_of(element, &values);
        let mut marks = Marks::NONE;
        let bare: Vec<Value> = values
            .into_iter()
            .map(|value| {
                if !value.has_marks() {
                    return value.with_type_if_untyped(&element);
                }
                marks = marks.union(&value.deep_marks());
                value.unmark_deep().0.with_type_if_untyped(&element)
            })
            .collect();
        let ordered = in_order(&element, distinct(bare));
        Value::set_ordered(element, ordered).with_marks(&marks)
    }

    /// Whether a set contains `element`: true, false, or unknown if that depends on unknown values. `None` if this is
    /// not a set.
    pub fn has_element(&self, element: &Value) -> Option<Value> {
        let marks = self.marks().union(&element.deep_marks());
        let answer = match (self.kind(), self.ty()) {
            (Kind::Unknown(_), Type::Set(_) | Type::Dynamic) => None,
            (Kind::Set(values), Type::Set(ty)) => contains(values, &ty, element, self.is_wholly_known()),
            _ => return None,
        };
        let answer = match answer {
            Some(answer) => Value::bool(answer),
            None => Value::unknown(Type::Bool).not_null(),
        };
        Some(answer.with_marks(&marks))
    }
}

fn contains(values: &[Value], ty: &Type, element: &Value, wholly_known: bool) -> Option<bool> {
    if !element.has_type(ty) && !element.has_type(&Type::Dynamic) {
        return Some(false);
    }
    if !element.is_known() {
        return None;
    }
    let element = element.unmark_deep().0.with_type_if_untyped(ty);
    let found = element.is_wholly_known() && position(values, ty, &element).is_some();
    if found {
        return Some(true);
    }
    (wholly_known && element.is_wholly_known()).then_some(false)
}

/// Returns the index of an element: by binary search in sets of strings, linearly in others.
pub(crate) fn position(values: &[Value], ty: &Type, element: &Value) -> Option<usize> {
    // Only the known, non-null elements are sorted by value.
    let known = values.partition_point(|value| value.is_known() && !value.is_null());
    match (ty, element.kind()) {
        (Type::String, Kind::String(text)) => {
            values[..known].binary_search_by(|value| value.as_str().unwrap_or_default().cmp(text)).ok()
        }
        _ => values.iter().position(|value| value == element),
    }
}

/// Whether two sets have the same elements; `None` if that depends on unknown values.
pub(crate) fn equal_members(a: &[Value], b: &[Value]) -> Option<bool> {
    let known = |values: &[Value]| values.iter().all(Value::is_wholly_known);
    if !known(a) || !known(b) {
        return None;
    }
    if a.len() != b.len() {
        return Some(false);
    }
    if a == b {
        return Some(true);
    }
    let members: HashSet<&Value> = a.iter().collect();
    Some(b.iter().all(|value| members.contains(value)))
}

/// Removes duplicates. Elements that are not wholly known are never duplicates.
fn distinct(values: Vec<Value>) -> Vec<Value> {
    /// Up to this length, pairwise comparison is faster than hashing.
    const FEW: usize = 8;
    if values.len() <= FEW {
        let mut kept: Vec<Value> = Vec::with_capacity(values.len());
        for value in values {
            if !value.is_wholly_known() || !kept.contains(&value) {
                kept.push(value);
            }
        }
        return kept;
    }
    let mut seen: HashSet<Value> = HashSet::with_capacity(values.len());
    values.into_iter().filter(|value| !value.is_wholly_known() || seen.insert(value.clone())).collect()
}

fn in_order(element: &Type, mut values: Vec<Value>) -> Vec<Value> {
    match element {
        Type::Bool | Type::Number | Type::String => {
            if !values.is_sorted_by(|a, b| simple_key(a) <= simple_key(b)) {
                values.sort_by(|a, b| simple_key(a).cmp(&simple_key(b)));
            }
            values
        }
        _ => {
            let mut keyed: Vec<(u8, String, Value)> = values
                .into_iter()
                .map(|value| {
                    let mut text = String::new();
                    content(&value, &mut text);
                    (class(&value), text, value)
                })
                .collect();
            keyed.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)).then_with(|| tie(&a.2, &b.2)));
            keyed.into_iter().map(|(_, _, value)| value).collect()
        }
    }
}

/// Orders different elements whose rendered content is the same, as with numbers of many digits. The order must not
/// depend on the insertion order, so that equal sets store their elements identically.
fn tie(a: &Value, b: &Value) -> Ordering {
    if a.is_wholly_known() && b.is_wholly_known() { a.cmp(b) } else { Ordering::Equal }
}

/// The major order of elements: known values, then unknowns, then nulls.
fn class(value: &Value) -> u8 {
    match value.kind() {
        Kind::Unknown(_) => 1,
        Kind::Null => 2,
        _ => 0,
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SimpleKey<'a> {
    Bool(bool),
    Number(&'a crate::number::Number),
    String(&'a str),
    Unknown,
    Null,
}

fn simple_key(value: &Value) -> SimpleKey<'_> {
    match value.kind() {
        Kind::Bool(value) => SimpleKey::Bool(value),
        Kind::Number(number) => SimpleKey::Number(number),
        Kind::String(text) => SimpleKey::String(text),
        Kind::Unknown(_) => SimpleKey::Unknown,
        _ => SimpleKey::Null,
    }
}

/// Appends the rendering of a value by which elements are ordered. The syntax is that of go-cty's set rules.
fn content(value: &Value, out: &mut String) {
    match value.kind() {
        Kind::Unknown(_) => out.push('?'),
        Kind::Null => out.push('~'),
        Kind::Bool(true) => out.push('T'),
        Kind::Bool(false) => out.push('F'),
        Kind::Number(number) => out.push_str(&number.to_short_general()),
        Kind::String(text) => quote(text, out),
        Kind::List(values) | Kind::Set(values) => sequence(values, '[', ']', out),
        Kind::Tuple(values) => sequence(values, '<', '>', out),
        Kind::Object(object) => sequence(object.values(), '<', '>', out),
        Kind::Map(map) => {
            out.push('{');
            for (key, value) in map.iter() {
                quote(key, out);
                out.push(':');
                content(value, out);
                out.push(';');
            }
            out.push('}');
        }
    }
}

fn sequence(values: &[Value], open: char, close: char, out: &mut String) {
    out.push(open);
    for value in values {
        content(value, out);
        out.push(';');
    }
    out.push(close);
}

fn quote(text: &str, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = write_quoted(text, out);
}
