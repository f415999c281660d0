//! Sharing of equal texts.

use crate::ast::Name;

/// Remembers recent names, so that a file with ten thousand `tags` keeps one.
///
/// The memory is a fixed number of places; a name may push out another, which only costs a copy later.
pub(super) struct Names {
    places: Vec<Place>,
}

/// A name with the number that was made of its bytes: most names that differ are told apart by it.
#[derive(Clone, Default)]
struct Place {
    hash: u64,
    name: Option<Name>,
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
            self.places.resize(PLACES, Place::default());
        }
        let hash = hash(text.as_bytes());
        // The highest bits depend on all bytes.
        let place = &mut self.places[(hash >> 48) as usize % PLACES];
        match &place.name {
            Some(name) if place.hash == hash && **name == *text => Name::clone(name),
            _ => {
                let name = Name::from(text);
                *place = Place { hash, name: Some(Name::clone(&name)) };
                name
            }
        }
    }
}

/// Any number will do that hardly two names share, so that a quick mixing of the bytes is enough.
fn hash(text: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (words, rest) = text.as_chunks::<8>();
    let hash = words.iter().fold(text.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(hash, tail(rest))
}

/// Up to seven bytes as one number, read in as few steps as their number allows.
fn tail(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)),
        _ => bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}
