//! Immutable lists of syntax nodes.

use std::fmt;
use std::ops::Deref;

use triomphe::ThinArc;

use crate::depth::Shared;

/// An immutable, shared list of nodes. One pointer wide, because most of the tree consists of pointers to lists.
///
/// An empty list needs no allocation.
#[derive(PartialEq)]
pub struct List<T>(Option<Shared<ThinArc<(), T>>>);

impl<T> List<T> {
    /// Creates a list from items of known number.
    pub fn new(items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>) -> Self {
        let items = items.into_iter();
        Self((items.len() > 0).then(|| Shared::of(ThinArc::from_header_and_iter((), items))))
    }

    /// The items as a slice.
    pub fn as_slice(&self) -> &[T] {
        self
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |items| &items.slice)
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::new(items.into_iter().collect::<Vec<_>>())
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}
