//! Sorted attribute names, shared between an object type and all the values of it.

use crate::Name;
use std::hash::{Hash, Hasher};

/// The sorted, distinct names of an object or a map.
///
/// Values of one schema hold the same `Arc<Shape>`, so that an object costs its values and nothing for its names.
#[derive(Clone, Debug)]
pub struct Shape {
    names: Box<[Name]>,
}

impl Shape {
    /// A shape of these names, sorted and without duplicates.
    pub fn new<N: Into<Name>>(names: impl IntoIterator<Item = N>) -> Self {
        let mut names: Vec<Name> = names.into_iter().map(Into::into).collect();
        if !names.is_sorted() {
            names.sort_unstable();
        }
        names.dedup();
        Shape { names: names.into() }
    }

    /// Splits pairs into their shape and the second halves in the order of the names; the last of equal names counts.
    pub(crate) fn sorted<N: Into<Name>, T>(pairs: impl IntoIterator<Item = (N, T)>) -> (Self, Vec<T>) {
        let mut pairs: Vec<(Name, T)> = pairs.into_iter().map(|(name, item)| (name.into(), item)).collect();
        if !pairs.is_sorted_by(|(a, _), (b, _)| a < b) {
            pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
            pairs.reverse();
            pairs.dedup_by(|(later, _), (kept, _)| later == kept);
            pairs.reverse();
        }
        let (names, items): (Vec<Name>, Vec<T>) = pairs.into_iter().unzip();
        (Shape { names: names.into() }, items)
    }

    /// Returns the names in ascending order.
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// The place of a name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|candidate| (**candidate).cmp(name)).ok()
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.names == other.names
    }
}

impl Eq for Shape {}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names.hash(state);
    }
}
