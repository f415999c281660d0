//! Sharing of equal texts.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::ast::Name;

/// Remembers names that come again, so that a file with ten thousand `tags` keeps two.
///
/// The memory is a fixed number of places; a name may push out another, which only costs a copy later.
pub(super) struct Names {
    /// The first name of each slot.
    first: Vec<Option<Kept>>,
    others: Vec<Others>,
}

/// A name that came again.
#[derive(Clone)]
struct Kept {
    key: Key,
    name: Name,
}

/// The rest of the interned names. It is rarely needed, and separate to leave the near caches to the first ones.
#[derive(Clone, Default)]
struct Others {
    second: Option<Kept>,
    /// The last names that are not interned.
    seen: [Key; 2],
}

/// The key of a text: unique for a short one, as nearly all are.
///
/// These are the bytes of a short text with zeros after them, the first and the last bytes of a longer one, and at the end the
/// length, or a sign that the text is longer than short ones are.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key([u64; 2]);

const PLACES: usize = 1 << 9;

/// Up to this length the key is the text.
const SHORT: usize = 15;

/// Longer texts are seldom repeated.
const LONGEST: usize = 48;

impl Names {
    pub(super) fn new() -> Self {
        Self { first: Vec::new(), others: Vec::new() }
    }

    /// A text that is no part of another one.
    pub(super) fn share_text(&mut self, text: &str) -> Name {
        self.share(text, 0..text.len())
    }

    /// A part of `text`.
    pub(super) fn share(&mut self, text: &str, part: Range<usize>) -> Name {
        if let Some(key) = Key::of_short(text.as_bytes(), &part)
            && let Some(Some(kept)) = self.first.get(key.place())
            && kept.key == key
        {
            return Name::clone(&kept.name);
        }
        self.share_otherwise(text.get(part).unwrap_or_default())
    }

    /// Shares a text of some length, one that is the second in its place, or one that is not known yet.
    #[inline(never)]
    fn share_otherwise(&mut self, text: &str) -> Name {
        let key = Key::of(text.as_bytes());
        let is_it = |kept: &&Kept| kept.key == key && *kept.name == *text;
        let first = self.first.get(key.place()).and_then(Option::as_ref).filter(is_it);
        let second = || self.others.get(key.place()).and_then(|others| others.second.as_ref()).filter(is_it);
        match first.or_else(second) {
            Some(kept) => Name::clone(&kept.name),
            None if text.len() > LONGEST => Name::from(text),
            None => self.learn(key, text),
        }
    }

    /// A name that is not kept yet. It will be when it comes again: many never do, and must not push out one that does.
    fn learn(&mut self, key: Key, text: &str) -> Name {
        // Many parsers read a few words only: the memory is taken when there is something to remember.
        if self.others.is_empty() {
            self.first.resize(PLACES, None);
            self.others.resize(PLACES, Others::default());
        }
        let (first, others) = (&mut self.first[key.place()], &mut self.others[key.place()]);
        if !others.seen.contains(&key) {
            others.seen = [key, others.seen[0]];
            return Name::from(text);
        }
        let name = lasting(text);
        let free = if first.is_none() { first } else { &mut others.second };
        *free = Some(Kept { key, name: Name::clone(&name) });
        name
    }
}

/// The name that stays for as long as the process runs, for a text that has come again in a file: nobody counts who has it, and with it
/// no two threads are in each other's way. Once there are very many such names, others are counted as usual.
fn lasting(text: &str) -> Name {
    static LASTING: LazyLock<Mutex<HashSet<Name>>> = LazyLock::new(Mutex::default);
    const MOST: usize = 1 << 16;
    let mut lasting = LASTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = lasting.get(text) {
        return Name::clone(name);
    }
    let name = Name::from(text);
    if lasting.len() < MOST {
        name.leak();
        lasting.insert(Name::clone(&name));
    }
    name
}

/// Masks for the first bytes of a text, by length.
static MASKS: [u128; SHORT + 1] = masks();

const fn masks() -> [u128; SHORT + 1] {
    let mut masks = [0; SHORT + 1];
    let mut length = 0;
    while length <= SHORT {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
}

impl Key {
    /// The key of a part of a text, if it is short and not at the end of everything: then one step reads what there can be of it.
    #[inline]
    fn of_short(text: &[u8], part: &Range<usize>) -> Option<Self> {
        let length = part.end.wrapping_sub(part.start);
        let mask = MASKS.get(length)?;
        let window = text.get(part.start..)?.first_chunk::<16>()?;
        Some(Self::new(u128::from_le_bytes(*window) & mask, length as u8))
    }

    /// The key of any text.
    fn of(text: &[u8]) -> Self {
        let mut bytes = [0; 16];
        if text.len() <= SHORT {
            bytes[..text.len()].copy_from_slice(text);
            return Self::new(u128::from_le_bytes(bytes), text.len() as u8);
        }
        let (first, last) = bytes.split_at_mut(8);
        first.copy_from_slice(&text[..first.len()]);
        last.copy_from_slice(&text[text.len() - last.len()..]);
        Self::new(u128::from_le_bytes(bytes) & MASKS[SHORT], u8::MAX)
    }

    const fn new(bytes: u128, length: u8) -> Self {
        Self([bytes as u64, (bytes >> 64) as u64 | (length as u64) << 56])
    }

    /// Any number will do that hardly two names share, so that a quick mixing of the bytes is enough.
    const fn place(self) -> usize {
        let Self([first, last]) = self;
        let mixed = (first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ last).wrapping_mul(0xd6e8_feb8_6659_fd93);
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
                    assert_eq!(names.share_text(text), text.as_str());
                    let longer = format!("{text}cccccccccccccccc");
                    assert_eq!(names.share(&longer, 0..length), text.as_str());
                }
            }
        }
    }

    #[test]
    fn equal_texts_are_one() {
        let mut names = Names::new();
        for text in ["", "id", "tags", "instance_type", "vpc_security_group_ids"] {
            names.share_text(text);
            let second = names.share_text(text);
            assert!(super::Name::ptr_eq(&second, &names.share_text(text)), "{text}");
            let longer = format!("{text} and what follows");
            assert!(super::Name::ptr_eq(&second, &names.share(&longer, 0..text.len())), "{text}");
        }
    }

    #[test]
    fn two_names_with_the_same_place_are_both_kept() {
        let place = |text: &str| super::Key::of(text.as_bytes()).place();
        let other = (0..).map(|number| format!("name{number}")).find(|name| place(name) == place("tags"));
        let pair = ["tags", &other.unwrap_or_default()];
        let mut names = Names::new();
        let mut round = || pair.map(|name| names.share_text(name));
        let [_, second, third] = [round(), round(), round()];
        assert!(second.iter().zip(&third).all(|(second, third)| super::Name::ptr_eq(second, third)));
    }
}
