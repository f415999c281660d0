//! Interning of repeated names.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::ast::Name;

/// A fixed-size cache of repeated names, so that a file with ten thousand occurrences of `tags` stores it once or
/// twice.
///
/// Each slot keeps two names; a name may evict another one, which only costs a copy later.
pub(super) struct Names {
    /// The first name of each slot.
    first: Vec<Option<Kept>>,
    others: Vec<Others>,
}

/// A name in the cache.
#[derive(Clone)]
struct Kept {
    key: Key,
    name: Name,
}

/// The second name and the candidates of a slot. Rarely used, and separate so that the first names stay in the cache of
/// the processor.
#[derive(Clone, Default)]
struct Others {
    second: Option<Kept>,
    /// The last two names that missed the cache.
    seen: [Key; 2],
}

/// A fixed-size key of a text; unique for short texts, which nearly all names are.
///
/// It holds the bytes of a short text padded with zeros, or the first and last bytes of a longer one, and the length or
/// a marker for longer texts.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key([u64; 2]);

const SLOTS: usize = 1 << 9;

/// The maximum length of a text that its key represents exactly.
const SHORT: usize = 15;

/// The maximum length of a cached text; longer ones are rarely repeated.
const LONGEST: usize = 48;

impl Names {
    pub(super) fn new() -> Self {
        Self { first: Vec::new(), others: Vec::new() }
    }

    /// Returns a shared name for a whole text.
    pub(super) fn share_text(&mut self, text: &str) -> Name {
        self.share(text, 0..text.len())
    }

    /// Returns a shared name for a part of `text`.
    pub(super) fn share(&mut self, text: &str, part: Range<usize>) -> Name {
        if let Some(key) = Key::of_short(text.as_bytes(), &part)
            && let Some(Some(kept)) = self.first.get(key.slot())
            && kept.key == key
        {
            return Name::clone(&kept.name);
        }
        self.share_otherwise(text.get(part).unwrap_or_default())
    }

    /// Looks up a text that is long, in second position, or not cached.
    #[inline(never)]
    fn share_otherwise(&mut self, text: &str) -> Name {
        let key = Key::of(text.as_bytes());
        let is_it = |kept: &&Kept| kept.key == key && *kept.name == *text;
        let first = self.first.get(key.slot()).and_then(Option::as_ref).filter(is_it);
        let second = || self.others.get(key.slot()).and_then(|others| others.second.as_ref()).filter(is_it);
        match first.or_else(second) {
            Some(kept) => Name::clone(&kept.name),
            None if text.len() > LONGEST => Name::from(text),
            None => self.learn(key, text),
        }
    }

    /// Handles a cache miss. A name is cached on its second miss, because many names occur once and must not evict
    /// others.
    fn learn(&mut self, key: Key, text: &str) -> Name {
        // Most parsers read a single expression, so the table is allocated only when there is something to store.
        if self.others.is_empty() {
            self.first.resize(SLOTS, None);
            self.others.resize(SLOTS, Others::default());
        }
        let (first, others) = (&mut self.first[key.slot()], &mut self.others[key.slot()]);
        if !others.seen.contains(&key) {
            others.seen = [key, others.seen[0]];
            return Name::from(text);
        }
        let name = permanent(text);
        let free = if first.is_none() { first } else { &mut others.second };
        *free = Some(Kept { key, name: Name::clone(&name) });
        name
    }
}

/// Returns a name that lives as long as the process. Leaked names need no atomic reference counting, on which threads
/// would contend. After 65,536 such names the others are counted as usual.
fn permanent(text: &str) -> Name {
    static PERMANENT: LazyLock<Mutex<HashSet<Name>>> = LazyLock::new(Mutex::default);
    const MOST: usize = 1 << 16;
    let mut permanent = PERMANENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = permanent.get(text) {
        return Name::clone(name);
    }
    let name = Name::from(text);
    if permanent.len() < MOST {
        name.leak();
        permanent.insert(Name::clone(&name));
    }
    name
}

/// The mask that keeps the first `n` bytes of a 16-byte window.
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
    /// Returns the key of a short part of a text, if at least 16 bytes follow its start so that it can be read in one
    /// step.
    #[inline]
    fn of_short(text: &[u8], part: &Range<usize>) -> Option<Self> {
        let length = part.end.wrapping_sub(part.start);
        let mask = MASKS.get(length)?;
        let window = text.get(part.start..)?.first_chunk::<16>()?;
        Some(Self::new(u128::from_le_bytes(*window) & mask, length as u8))
    }

    /// Returns the key of any text.
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

    /// The cache slot. Collisions only cost a copy, so a cheap multiplicative hash is enough.
    const fn slot(self) -> usize {
        let Self([first, last]) = self;
        let mixed = (first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ last).wrapping_mul(0xd6e8_feb8_6659_fd93);
        // The highest bits depend on all bytes.
        (mixed >> 48) as usize % SLOTS
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Names};

    #[test]
    fn different_texts_have_different_names() {
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
    fn equal_texts_share_one_name() {
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
    fn slot_keeps_two_names() {
        let slot = |text: &str| super::Key::of(text.as_bytes()).slot();
        let other = (0..).map(|number| format!("name{number}")).find(|name| slot(name) == slot("tags"));
        let pair = ["tags", &other.unwrap_or_default()];
        let mut names = Names::new();
        let mut round = || pair.map(|name| names.share_text(name));
        let [_, second, third] = [round(), round(), round()];
        assert!(second.iter().zip(&third).all(|(second, third)| super::Name::ptr_eq(second, third)));
    }
}
