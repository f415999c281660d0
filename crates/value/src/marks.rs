//! Marks: properties that a value carries through expressions.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use groma_address::DeprecationOrigin;

use crate::Name;

/// The marks of a value: sensitive, ephemeral, and deprecations.
///
/// Guarantees: marks propagate. Every operation of this crate puts the marks of its operands on the result, and none
/// drops a mark unless its name says so (`unmark`, `without_...`). A set carries the marks of its elements itself,
/// because its elements have no stable paths.
///
/// Marks only record; they enforce nothing. Renderers hide [sensitive](Marks::is_sensitive) values, the codecs refuse
/// marked values, so code that stores a value must strip its marks first and store their paths ([`crate::PathMarks`]),
/// and the evaluator reports [deprecations](Marks::deprecations) where a deprecated value is used.
///
/// Sensitive and ephemeral are bit flags and deprecations are shared, so copying and merging marks is nearly free.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marks {
    flags: u8,
    deprecated: Option<Arc<BTreeSet<Deprecation>>>,
}

/// A deprecation notice from the configuration or a provider schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deprecation {
    /// The author's message, which usually names the replacement.
    pub message: Name,
    /// The deprecated item.
    pub origin: DeprecationOrigin,
}

const SENSITIVE: u8 = 1;
const EPHEMERAL: u8 = 2;

impl Marks {
    /// The empty set of marks.
    pub const NONE: Marks = Marks { flags: 0, deprecated: None };
    /// The mark of values that must not be displayed.
    pub const SENSITIVE: Marks = Marks { flags: SENSITIVE, deprecated: None };
    /// The mark of values that must not be stored in a plan or state.
    pub const EPHEMERAL: Marks = Marks { flags: EPHEMERAL, deprecated: None };

    /// Returns the mark of values that come from something deprecated.
    pub fn deprecated(deprecation: Deprecation) -> Marks {
        Marks { flags: 0, deprecated: Some(Arc::new(BTreeSet::from([deprecation]))) }
    }

    /// Whether no mark is set.
    pub fn is_empty(&self) -> bool {
        self.flags == 0 && self.deprecated.is_none()
    }

    /// Whether the value must not be displayed.
    pub fn is_sensitive(&self) -> bool {
        self.flags & SENSITIVE != 0
    }

    /// Whether the value must not be stored in a plan or state.
    pub fn is_ephemeral(&self) -> bool {
        self.flags & EPHEMERAL != 0
    }

    /// Whether the value comes from something deprecated.
    pub fn is_deprecated(&self) -> bool {
        self.deprecated.is_some()
    }

    /// The deprecations that the value comes from, sorted.
    pub fn deprecations(&self) -> impl Iterator<Item = &Deprecation> {
        self.deprecated.iter().flat_map(|deprecations| deprecations.iter())
    }

    /// Returns these marks without deprecations.
    #[must_use]
    pub fn without_deprecations(&self) -> Marks {
        Marks { flags: self.flags, deprecated: None }
    }

    /// Whether every mark of `other` is in this set.
    pub fn contains(&self, other: &Marks) -> bool {
        let messages = match (&self.deprecated, &other.deprecated) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(mine), Some(theirs)) => theirs.is_subset(mine),
        };
        self.flags & other.flags == other.flags && messages
    }

    /// Returns the marks of both.
    #[must_use]
    pub fn union(&self, other: &Marks) -> Marks {
        let deprecated = match (&self.deprecated, &other.deprecated) {
            (one, None) => one.clone(),
            (None, one) => one.clone(),
            (Some(a), Some(b)) if a == b => Some(a.clone()),
            (Some(a), Some(b)) => Some(Arc::new(a.union(b).cloned().collect())),
        };
        Marks { flags: self.flags | other.flags, deprecated }
    }

    /// Returns these marks except those in `other`.
    #[must_use]
    pub fn without(&self, other: &Marks) -> Marks {
        let deprecated = match (&self.deprecated, &other.deprecated) {
            (one, None) => one.clone(),
            (None, _) => None,
            (Some(a), Some(b)) => {
                let rest: BTreeSet<Deprecation> = a.difference(b).cloned().collect();
                (!rest.is_empty()).then(|| Arc::new(rest))
            }
        };
        Marks { flags: self.flags & !other.flags, deprecated }
    }
}

impl fmt::Debug for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_set();
        if self.is_sensitive() {
            set.entry(&"sensitive");
        }
        if self.is_ephemeral() {
            set.entry(&"ephemeral");
        }
        set.entries(self.deprecations()).finish()
    }
}

impl FromIterator<Marks> for Marks {
    fn from_iter<I: IntoIterator<Item = Marks>>(marks: I) -> Self {
        marks.into_iter().fold(Marks::NONE, |all, one| all.union(&one))
    }
}
