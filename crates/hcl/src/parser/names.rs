//! Sharing of equal texts.

use crate::ast::Name;

/// Remembers recent names, so that a file with ten thousand `tags` keeps one.
///
/// The memory is a fixed number of places; a name may push out another, which only costs a copy later.
pub(super) struct Names {
    places: Vec<Option<Name>>,
}

const PLACES: usize = 1 << 10;

/// Longer texts are seldom repeated.
const LONGEST: usize = 48;

impl Names {
    pub(super) fn new() -> Self {
        Self { places: Vec::new() }
    }

    pub(super) fn share(&mut self, text: &str) -> Name {
        if text.len() > LONGEST {
            return Name::from(text);
        }
        if self.places.is_empty() {
            self.places.resize(PLACES, None);
        }
        let place = place(text);
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

/// Any place will do, so that a quick mixing of the bytes is enough.
fn place(text: &str) -> usize {
    let mix = |hash: u64, bytes: &[u8]| {
        let word = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let hash = text.as_bytes().chunks(8).fold(text.len() as u64, mix);
    (hash >> 32) as usize % PLACES
}
