//! Comparisons of values: equality, and the `==` operator, whose result may be unknown.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::kind::Kind;
use super::repr::Value;
use crate::redaction::Redacted;
use crate::refinement::Refinement;
use crate::types::Type;

impl PartialEq for Value {
    /// Whether both are identical, including type, marks, unknown parts and refinements.
    /// See [`Value::equals`] for the `==` operator.
    fn eq(&self, other: &Self) -> bool {
        if self.marks() != other.marks() {
            return false;
        }
        match (self.kind(), other.kind()) {
            (Kind::Null, Kind::Null) => self.ty() == other.ty(),
            (Kind::Unknown(a), Kind::Unknown(b)) => a == b && self.ty() == other.ty(),
            (Kind::Bool(a), Kind::Bool(b)) => a == b,
            (Kind::Number(a), Kind::Number(b)) => a.equals(b),
            (Kind::String(a), Kind::String(b)) => a == b,
            // Values are often clones of each other, so comparing addresses first saves deep comparisons.
            (Kind::Tuple(a), Kind::Tuple(b)) => std::ptr::eq(a, b) || a == b,
            (Kind::List(a), Kind::List(b)) | (Kind::Set(a), Kind::Set(b)) => {
                same_memory(a, b) || (a.len() == b.len() && self.ty() == other.ty() && a == b)
            }
            (Kind::Map(a), Kind::Map(b)) => {
                same_memory(a.values(), b.values())
                    || (a.element_type() == b.element_type() && a.keys() == b.keys() && a.values() == b.values())
            }
            (Kind::Object(a), Kind::Object(b)) => {
                std::ptr::eq(a.values(), b.values()) || (a.shape() == b.shape() && a.values() == b.values())
            }
            _ => false,
        }
    }
}

impl Eq for Value {}

/// Whether both are the same nonempty slice in memory, which implies the same element type. All empty slices may share
/// an address, whatever their type.
fn same_memory(a: &[Value], b: &[Value]) -> bool {
    !a.is_empty() && std::ptr::eq(a, b)
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        rank(self).hash(state);
        match self.kind() {
            // The hash ignores types, refinements and marks: it is cheaper, and equal values still have equal hashes.
            Kind::Null | Kind::Unknown(_) => {}
            Kind::Bool(value) => value.hash(state),
            // Numbers are compared with `Number::equals`, so the hash must agree with that.
            Kind::Number(number) => number.hash_as_text(state),
            Kind::String(text) => text.hash(state),
            Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => values.hash(state),
            Kind::Map(map) => {
                map.keys().hash(state);
                map.values().hash(state);
            }
            Kind::Object(object) => {
                object.shape().hash(state);
                object.values().hash(state);
            }
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    /// A total order for sorting. Numbers and strings are in natural order; the order of other values is arbitrary but
    /// stable.
    fn cmp(&self, other: &Self) -> Ordering {
        let inner = rank(self).cmp(&rank(other)).then_with(|| match (self.kind(), other.kind()) {
            (Kind::Bool(a), Kind::Bool(b)) => a.cmp(&b),
            (Kind::Number(a), Kind::Number(b)) if a.equals(b) => Ordering::Equal,
            (Kind::Number(a), Kind::Number(b)) => a.cmp(b).then_with(|| a.precision().cmp(&b.precision())),
            (Kind::String(a), Kind::String(b)) => a.cmp(b),
            (Kind::List(a), Kind::List(b)) | (Kind::Set(a), Kind::Set(b)) | (Kind::Tuple(a), Kind::Tuple(b)) => {
                a.cmp(b)
            }
            (Kind::Map(a), Kind::Map(b)) => a.keys().cmp(b.keys()).then_with(|| a.values().cmp(b.values())),
            (Kind::Object(a), Kind::Object(b)) => {
                a.shape().names().cmp(b.shape().names()).then_with(|| a.values().cmp(b.values()))
            }
            _ => Ordering::Equal,
        });
        inner.then_with(|| self.marks().cmp(other.marks())).then_with(|| {
            if self == other {
                return Ordering::Equal;
            }
            // Only the type or the refinement differs. This is rare enough to compare debug output.
            self.ty().cmp(&other.ty()).then_with(|| format!("{self:?}").cmp(&format!("{other:?}")))
        })
    }
}

fn rank(value: &Value) -> u8 {
    match value.kind() {
        Kind::Bool(_) => 0,
        Kind::Number(_) => 1,
        Kind::String(_) => 2,
        Kind::List(_) => 3,
        Kind::Set(_) => 4,
        Kind::Tuple(_) => 5,
        Kind::Map(_) => 6,
        Kind::Object(_) => 7,
        Kind::Null => 8,
        Kind::Unknown(_) => 9,
    }
}

impl fmt::Debug for Value {
    /// Writes a form for tests and logs. Sensitive values are redacted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Redacted::Sensitive) = Redacted::of(self.marks()) {
            return write!(f, "{}", Redacted::Sensitive);
        }
        if !self.marks().is_empty() {
            write!(f, "{:?}", self.marks())?;
        }
        match self.kind() {
            Kind::Null => write!(f, "null({})", self.ty()),
            Kind::Unknown(refinement) if refinement.is_empty() => write!(f, "unknown({})", self.ty()),
            Kind::Unknown(refinement) => write!(f, "unknown({}, {refinement:?})", self.ty()),
            Kind::Bool(value) => write!(f, "{value}"),
            Kind::Number(number) => write!(f, "{number}"),
            Kind::String(text) => write!(f, "{text:?}"),
            Kind::List(values) => {
                f.write_str("list")?;
                f.debug_list().entries(values).finish()
            }
            Kind::Set(values) => {
                f.write_str("set")?;
                f.debug_list().entries(values).finish()
            }
            Kind::Tuple(values) => f.debug_list().entries(values).finish(),
            Kind::Map(map) => {
                f.write_str("map")?;
                f.debug_map().entries(map.iter()).finish()
            }
            Kind::Object(object) => f.debug_map().entries(object.iter()).finish(),
        }
    }
}

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
