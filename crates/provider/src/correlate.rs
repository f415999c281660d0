//! Lookup of the set element that corresponds to another element, without comparing all pairs.
//!
//! Set elements have no key, so elements correspond if they agree in their known, configured parts. The other parts
//! (unknown, or left to the provider) are masked out of both, and the result is looked up by hash. Elements with equal
//! masks share an index; a set has few different masks, so it needs few indexes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use groma_value::{Kind, Type, Value};

/// The parts of a value that are ignored in a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mask {
    /// Compare the whole value.
    Keep,
    /// Ignore the whole value.
    Wild,
    /// Apply an individual mask to each part, in the order of the parts.
    Parts(Box<[Mask]>),
}

impl Mask {
    /// Combines the masks of the parts, simplified if they keep everything.
    pub(crate) fn parts(parts: Vec<Mask>) -> Self {
        if parts.iter().all(|part| *part == Self::Keep) { Self::Keep } else { Self::Parts(parts.into()) }
    }

    /// Creates the mask that ignores the unknown parts of `value`.
    pub(crate) fn of_unknowns(value: &Value) -> Self {
        if value.is_wholly_known() {
            return Self::Keep;
        }
        let each = |values: &[Value]| Self::parts(values.iter().map(Self::of_unknowns).collect());
        match value.kind() {
            Kind::List(values) | Kind::Tuple(values) => each(values),
            Kind::Map(map) => each(map.values()),
            Kind::Object(object) => each(object.values()),
            // A set with unknown elements may end up with any number of elements in any order.
            _ => Self::Wild,
        }
    }

    /// Projects `value` to its compared parts. Projections of two values are equal if and only if those parts are.
    fn apply(&self, value: &Value) -> Value {
        match self {
            Self::Keep => value.clone(),
            // Any constant works: all ignored parts must project to the same value.
            Self::Wild => Value::null(Type::Dynamic),
            Self::Parts(masks) => {
                let each = |values: &[Value]| {
                    // Values of another length have other parts, so the mask does not apply.
                    (values.len() == masks.len())
                        .then(|| masks.iter().zip(values).map(|(mask, value)| mask.apply(value)).collect::<Vec<_>>())
                };
                let projection = match value.kind() {
                    Kind::List(values) | Kind::Tuple(values) => each(values),
                    Kind::Object(object) => each(object.values()),
                    Kind::Map(map) => each(map.values()).map(|mut values| {
                        // The keys must agree, too: maps with different keys can have equal values.
                        values.extend(map.iter().map(|(key, _)| Value::string(key)));
                        values
                    }),
                    // A mask of another shape than the value: the value is compared as a whole and matches nothing
                    // else.
                    _ => None,
                };
                projection.map_or_else(|| value.clone(), Value::tuple)
            }
        }
    }
}

/// The elements of a set, indexed by their projections on demand.
pub(crate) struct Candidates<'a> {
    elements: &'a [Value],
    indexes: HashMap<Mask, HashMap<Value, Vec<usize>>>,
}

impl<'a> Candidates<'a> {
    /// Creates a lookup without any index.
    pub(crate) fn new(elements: &'a [Value]) -> Self {
        Self { elements, indexes: HashMap::new() }
    }

    /// Returns the ascending positions of the elements that agree with `sought` in the parts that `mask` keeps.
    ///
    /// The caller may remove positions that it has consumed.
    pub(crate) fn matching(&mut self, sought: &Value, mask: Mask) -> &mut Vec<usize> {
        let projection = mask.apply(sought);
        let index = match self.indexes.entry(mask) {
            Entry::Occupied(entry) => entry.into_mut(),
            // An index is built once for each mask, so that matching stays linear in the number of elements.
            Entry::Vacant(entry) => {
                let mut index: HashMap<Value, Vec<usize>> = HashMap::with_capacity(self.elements.len());
                for (position, element) in self.elements.iter().enumerate() {
                    index.entry(entry.key().apply(element)).or_default().push(position);
                }
                entry.insert(index)
            }
        };
        index.entry(projection).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: Value, b: Value) -> Value {
        Value::object([("a", a), ("b", b)])
    }

    #[test]
    fn elements_are_found_by_unmasked_parts() {
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
        // The unknown part matches anything, but the known one must be equal.
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
