//! Sharing of equal texts.

use std::hash::{BuildHasher, RandomState};

use crate::ast::Name;

/// Remembers recent names, so that a file with ten thousand `tags` keeps one.
///
/// The memory is a fixed number of places; a name may push out another, which only costs a copy later.
pub(super) struct Names {
    places: Vec<Option<Name>>,
    hasher: RandomState,
}

const PLACES: usize = 1 << 10;

/// Longer texts are seldom repeated.
const LONGEST: usize = 48;

impl Names {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), hasher: RandomState::new() }
    }

    pub(super) fn share(&mut self, text: &str) -> Name {
        if text.len() > LONGEST {
            return Name::from(text);
        }
        if self.places.is_empty() {
            self.places.resize(PLACES, None);
        }
        let place = self.hasher.hash_one(text) as usize % PLACES;
        match &mut self.places[place] {
            Some(name) if **name == *text => Name::clone(name),
            other => {
                let name = Name::from(text);
                *other = Some(Name::clone(&name));
                name
            }
        }
    }
}
