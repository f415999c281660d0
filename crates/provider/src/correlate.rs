//! Finding, among many set elements, the one that another element stands for, without comparing each with each.
//!
//! Set elements have no key, so two of them are matched by what they have in common: the parts of one that say nothing
//! (unknown, or left to the provider) are masked out of both, and what remains is looked up by hash. Elements with the
//! same mask share one index; there are as many indexes as there are kinds of element, which is few.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use groma_value::{Kind, Type, Value};

/// Which parts of a value say nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mask {
    /// The whole value counts.
    Keep,
    /// Nothing of it counts.
    Wild,
    /// The parts count according to their own masks, in the order of the parts.
    Parts(Box<[Mask]>),
}

impl Mask {
    /// A mask for parts, in the simplest form.
    pub(crate) fn parts(parts: Vec<Mask>) -> Self {
        if parts.iter().all(|part| *part == Self::Keep) { Self::Keep } else { Self::Parts(parts.into()) }
    }

    /// Masks what is unknown in `value`.
    pub(crate) fn of_unknowns(value: &Value) -> Self {
        if value.is_wholly_known() {
            return Self::Keep;
        }
        let each = |values: &[Value]| Self::parts(values.iter().map(Self::of_unknowns).collect());
        match value.kind() {
            Kind::List(values) | Kind::Tuple(values) => each(values),
            Kind::Map(map) => each(map.values()),
            Kind::Object(object) => each(object.values()),
            // Elements of a set with unknowns may be any number of elements in the end, in any order.
            _ => Self::Wild,
        }
    }

    /// What remains of `value`: the same for two values exactly if they agree in everything that counts.
    fn apply(&self, value: &Value) -> Value {
        match self {
            Self::Keep => value.clone(),
            Self::Wild => Value::null(Type::Dynamic),
            Self::Parts(masks) => {
                let each = |values: &[Value]| {
                    (values.len() == masks.len())
                        .then(|| masks.iter().zip(values).map(|(mask, value)| mask.apply(value)).collect::<Vec<_>>())
                };
                let remains = match value.kind() {
                    Kind::List(values) | Kind::Tuple(values) => each(values),
                    Kind::Object(object) => each(object.values()),
                    Kind::Map(map) => each(map.values()).map(|mut values| {
                        values.extend(map.iter().map(|(key, _)| Value::string(key)));
                        values
                    }),
                    _ => None,
                };
                remains.map_or_else(|| value.clone(), Value::tuple)
            }
        }
    }
}

/// The elements of a set, to be found by what they have in common with other elements.
pub(crate) struct Candidates<'a> {
    elements: &'a [Value],
    indexes: HashMap<Mask, HashMap<Value, Vec<usize>>>,
}

impl<'a> Candidates<'a> {
    /// `elements`, not indexed yet.
    pub(crate) fn new(elements: &'a [Value]) -> Self {
        Self { elements, indexes: HashMap::new() }
    }

    /// The positions of the elements that agree with `sought` in everything that `mask` lets count, ascending.
    ///
    /// The caller may remove positions that it has used up.
    pub(crate) fn matching(&mut self, sought: &Value, mask: Mask) -> &mut Vec<usize> {
        let remains = mask.apply(sought);
        let index = match self.indexes.entry(mask) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let mut index: HashMap<Value, Vec<usize>> = HashMap::with_capacity(self.elements.len());
                for (position, element) in self.elements.iter().enumerate() {
                    index.entry(entry.key().apply(element)).or_default().push(position);
                }
                entry.insert(index)
            }
        };
        index.entry(remains).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: Value, b: Value) -> Value {
        Value::object([("a", a), ("b", b)])
    }

    #[test]
    fn elements_are_found_by_what_counts() {
        let elements = [
            pair(Value::string("x"), Value::string("1")),
            pair(Value::string("y"), Value::string("2")),
            pair(Value::string("x"), Value::string("3")),
        ];
        let mut candidates = Candidates::new(&elements);
        let sought = pair(Value::string("x"), Value::unknown(Type::String));
        assert_eq!(*candidates.matching(&sought, Mask::of_unknowns(&sought)), [0, 2]);
        let sought = pair(Value::string("y"), Value::string("2"));
        assert_eq!(*candidates.matching(&sought, Mask::of_unknowns(&sought)), [1]);
        let sought = pair(Value::string("z"), Value::unknown(Type::String));
        assert!(candidates.matching(&sought, Mask::of_unknowns(&sought)).is_empty());
    }

    #[test]
    fn maps_agree_only_with_equal_keys() {
        let map = |key: &str, value: Value| Value::map(Type::String, [(key, value)]);
        let elements = [map("k", Value::string("1"))];
        let mut candidates = Candidates::new(&elements);
        for (key, found) in [("k", vec![0]), ("other", vec![])] {
            let sought = map(key, Value::unknown(Type::String));
            assert_eq!(*candidates.matching(&sought, Mask::of_unknowns(&sought)), found);
        }
    }
}
