//! Sharing of equal texts.

use crate::ast::Name;

/// Remembers recent names, so that a file with ten thousand `tags` keeps two.
///
/// The memory is a fixed number of places; a name may push out another, which only costs a copy later.
pub(super) struct Names {
    places: Vec<Place>,
}

/// What was seen last of the names that have this place, and the name if that was more than once.
#[derive(Clone, Default)]
struct Place {
    key: Key,
    name: Option<Name>,
}

/// What stands for a text: for a short one, as nearly all are, nothing else has the same key.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key {
    words: [u64; 2],
    length: usize,
}

const PLACES: usize = 1 << 10;

/// Up to this length the key is the text.
const SHORT: usize = 16;

/// Longer texts are seldom repeated.
const LONGEST: usize = 48;

impl Names {
    pub(super) fn new() -> Self {
        Self { places: Vec::new() }
    }

    pub(super) fn share(&mut self, text: &str) -> Name {
        let key = Key::of(text.as_bytes());
        match self.places.get(key.place()) {
            Some(Place { key: kept, name: Some(name) }) if *kept == key && text.len() <= SHORT => Name::clone(name),
            _ => self.share_otherwise(key, text),
        }
    }

    /// Shares a text of some length, or one that is not known yet.
    #[inline(never)]
    fn share_otherwise(&mut self, key: Key, text: &str) -> Name {
        match self.places.get(key.place()) {
            Some(Place { key: kept, name: Some(name) }) if *kept == key && **name == *text => Name::clone(name),
            _ if text.len() > LONGEST => Name::from(text),
            _ => self.learn(key, text),
        }
    }

    /// A name that is not kept yet. It will be when it comes again: many never do.
    fn learn(&mut self, key: Key, text: &str) -> Name {
        let name = Name::from(text);
        // Many parsers read a few words only: the memory is taken when there is something to remember.
        self.places.resize(PLACES, Place::default());
        let place = &mut self.places[key.place()];
        let kept = (place.key == key).then(|| Name::clone(&name));
        *place = Place { key, name: kept };
        name
    }
}

impl Key {
    /// The first and the last bytes, read in as few steps as their number allows; they overlap in the middle of a short text, and leave
    /// out the middle of a long one.
    fn of(text: &[u8]) -> Self {
        let length = text.len();
        let words = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            (Some(first), Some(last)) => [u64::from_le_bytes(*first), u64::from_le_bytes(*last)],
            _ => match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
                (Some(first), Some(last)) => [u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()],
                _ => [text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0],
            },
        };
        Self { words, length }
    }

    /// Any number will do that hardly two names share, so that a quick mixing of the bytes is enough.
    fn place(self) -> usize {
        let [first, last] = self.words;
        let mixed =
            (first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ last ^ self.length as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
        // The highest bits depend on all bytes.
        (mixed >> 48) as usize % PLACES
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Names};

    #[test]
    fn texts_that_differ_anywhere_are_told_apart() {
        let mut names = Names::new();
        for length in 0..LONGEST + 4 {
            let same = "a".repeat(length);
            for at in 0..length {
                let other = format!("{}b{}", &same[..at], &same[at + 1..]);
                for text in [&same, &other, &same] {
                    assert_eq!(names.share(text), text.as_str());
                }
            }
        }
    }

    #[test]
    fn equal_texts_are_one() {
        let mut names = Names::new();
        for text in ["", "id", "tags", "instance_type", "vpc_security_group_ids"] {
            names.share(text);
            let second = names.share(text);
            assert!(super::Name::ptr_eq(&second, &names.share(text)), "{text}");
        }
    }
}
