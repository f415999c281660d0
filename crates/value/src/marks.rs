//! Marks: what must be remembered about a value besides the value itself.

use crate::Name;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The marks of a value. Whatever is derived from it carries them too.
///
/// The usual marks are flags, so that copying and merging them costs next to nothing.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marks {
    flags: u8,
    deprecated: Option<Arc<BTreeSet<Deprecation>>>,
}

/// That something should no longer be used: why, and what it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deprecation {
    /// The advice of the author who deprecated it.
    pub message: Name,
    /// The deprecated object, such as `module.network.old`.
    pub origin: Name,
}

const SENSITIVE: u8 = 1;
const EPHEMERAL: u8 = 2;

impl Marks {
    /// The empty set of marks.
    pub const NONE: Marks = Marks { flags: 0, deprecated: None };
    /// The value must not be shown.
    pub const SENSITIVE: Marks = Marks { flags: SENSITIVE, deprecated: None };
    /// The value must not be stored.
    pub const EPHEMERAL: Marks = Marks { flags: EPHEMERAL, deprecated: None };

    /// The value comes from something deprecated.
    pub fn deprecated(deprecation: Deprecation) -> Marks {
        Marks { flags: 0, deprecated: Some(Arc::new(BTreeSet::from([deprecation]))) }
    }

    /// Whether there is no mark.
    pub fn is_empty(&self) -> bool {
        self.flags == 0 && self.deprecated.is_none()
    }

    /// Whether the value must not be shown.
    pub fn is_sensitive(&self) -> bool {
        self.flags & SENSITIVE != 0
    }

    /// Whether the value must not be stored.
    pub fn is_ephemeral(&self) -> bool {
        self.flags & EPHEMERAL != 0
    }

    /// Whether something deprecated is where the value comes from.
    pub fn is_deprecated(&self) -> bool {
        self.deprecated.is_some()
    }

    /// Iterates over the deprecations of a value, sorted.
    pub fn deprecations(&self) -> impl Iterator<Item = &Deprecation> {
        self.deprecated.iter().flat_map(|deprecations| deprecations.iter())
    }

    /// These marks without the deprecations.
    #[must_use]
    pub fn without_deprecations(&self) -> Marks {
        Marks { flags: self.flags, deprecated: None }
    }

    /// Whether all of `other` is in here.
    pub fn contains(&self, other: &Marks) -> bool {
        let messages = match (&self.deprecated, &other.deprecated) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(mine), Some(theirs)) => theirs.is_subset(mine),
        };
        self.flags & other.flags == other.flags && messages
    }

    /// The marks of both.
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

    /// These marks without those of `other`.
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
