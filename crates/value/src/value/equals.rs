//! The `==` operator, whose result is unknown if it depends on unknown values.

use super::kind::Kind;
use super::repr::Value;
use crate::refinement::Refinement;
use crate::types::Type;

impl Value {
    /// Compares two values as the `==` operator does: true, false, or unknown. The result has all marks of both values,
    /// including those of nested values. Nulls are equal whatever their types.
    pub fn equals(&self, other: &Value) -> Value {
        let result = match equal(self, other) {
            Some(answer) => Value::bool(answer),
            None => Value::refined(Type::Bool, Refinement::NOT_NULL),
        };
        if !self.has_marks() && !other.has_marks() {
            return result;
        }
        // Comparing with null reveals nothing about the contents, so a list with a sensitive element can be tested for
        // null.
        let marks = if self.is_null() != other.is_null() {
            self.marks().union(other.marks())
        } else {
            self.deep_marks().union(&other.deep_marks())
        };
        result.with_marks(&marks)
    }
}

/// Whether both are equal, ignoring marks; `None` if that depends on unknown values.
pub(crate) fn equal(a: &Value, b: &Value) -> Option<bool> {
    match (a.is_known(), b.is_known()) {
        (true, true) => {}
        (false, false) => return None,
        (true, false) => return equal_to_unknown(a, b),
        (false, true) => return equal_to_unknown(b, a),
    }
    match (a.kind(), b.kind()) {
        (Kind::Null, Kind::Null) => Some(true),
        (Kind::Null, _) | (_, Kind::Null) => Some(false),
        (Kind::Bool(x), Kind::Bool(y)) => Some(x == y),
        (Kind::Number(x), Kind::Number(y)) => Some(x.equals(y)),
        (Kind::String(x), Kind::String(y)) => Some(x == y),
        _ => equal_aggregates(a, b),
    }
}

fn equal_to_unknown(known: &Value, unknown: &Value) -> Option<bool> {
    (unknown.range().includes(known) == Some(false)).then_some(false)
}

// Structural equality is only valid without unknowns and marks, but it avoids computing the types.
fn equal_aggregates(a: &Value, b: &Value) -> Option<bool> {
    if a.is_wholly_known() && b.is_wholly_known() && !a.has_marks() && !b.has_marks() {
        return Some(a == b);
    }
    let (x, y) = (a.ty(), b.ty());
    if !knows_types(a) || !knows_types(b) {
        return (!x.conforms_to(&y) && !y.conforms_to(&x)).then_some(false);
    }
    if x != y { Some(false) } else { elementwise(a, b) }
}

/// Whether the types of all unknown values inside are known.
fn knows_types(value: &Value) -> bool {
    if value.is_wholly_known() {
        return true;
    }
    if !value.is_known() {
        return !value.ty().has_dynamic();
    }
    let mut all = true;
    value.children(|_, child| all = all && knows_types(child));
    all
}

/// Compares the children of two known aggregates of one type. In sequences the first difference decides, and an unknown
/// child before it makes the result unknown.
fn elementwise(a: &Value, b: &Value) -> Option<bool> {
    match (a.kind(), b.kind()) {
        (Kind::List(x), Kind::List(y)) | (Kind::Tuple(x), Kind::Tuple(y)) => all_equal(x, y),
        (Kind::Set(x), Kind::Set(y)) => super::set::equal_members(x, y),
        (Kind::Map(x), Kind::Map(y)) => {
            if x.keys() != y.keys() {
                return Some(false);
            }
            named_equal(x.values(), y.values())
        }
        (Kind::Object(x), Kind::Object(y)) => named_equal(x.values(), y.values()),
        _ => Some(false),
    }
}

fn all_equal(a: &[Value], b: &[Value]) -> Option<bool> {
    if a.len() != b.len() {
        return Some(false);
    }
    for (x, y) in a.iter().zip(b) {
        match equal(x, y) {
            Some(true) => {}
            other => return other,
        }
    }
    Some(true)
}

/// Compares like [`all_equal`], but any difference decides, because attributes and keys have no order.
fn named_equal(a: &[Value], b: &[Value]) -> Option<bool> {
    let mut answer = Some(true);
    for (x, y) in a.iter().zip(b) {
        match equal(x, y) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => answer = None,
        }
    }
    answer
}
