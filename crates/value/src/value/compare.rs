//! Structural equality, a hash that fits it, and an order.

use super::kind::Kind;
use super::repr::Value;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

impl PartialEq for Value {
    /// Whether both are the same in everything: type, marks, what is unknown and what is promised about it.
    /// See [`Value::equals`] for the comparison that expressions make.
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
            (Kind::Tuple(a), Kind::Tuple(b)) => std::ptr::eq(a, b) || a == b,
            (Kind::List(a), Kind::List(b)) | (Kind::Set(a), Kind::Set(b)) => {
                same_place(a, b) || (a.len() == b.len() && self.ty() == other.ty() && a == b)
            }
            (Kind::Map(a), Kind::Map(b)) => {
                same_place(a.values(), b.values())
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

/// Whether both are the same elements in memory, which are of one type. No elements are in no place: those of any type are.
fn same_place(a: &[Value], b: &[Value]) -> bool {
    !a.is_empty() && std::ptr::eq(a, b)
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        rank(self).hash(state);
        match self.kind() {
            Kind::Null | Kind::Unknown(_) => {}
            Kind::Bool(value) => value.hash(state),
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
    /// An order for sorting, without a meaning of its own but that numbers and strings come in theirs.
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
            // The remaining values differ in type or refinement.
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
    /// For tests and logs of this program only. What is sensitive reads `(sensitive)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.marks().is_sensitive() {
            return write!(f, "(sensitive {})", self.ty());
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
