//! A map that only grows, so that what it holds can be borrowed for as long as the map itself.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};

use crate::Name;

/// Values by name. Entries are added once and never changed or removed; adding needs no exclusive access.
pub(crate) struct FrozenMap<T: ?Sized> {
    buckets: Box<[OnceLock<Box<Entry<T>>>]>,
    hasher: RandomState,
}

struct Entry<T: ?Sized> {
    name: Name,
    value: Arc<T>,
    next: OnceLock<Box<Entry<T>>>,
}

/// Chains stay short up to some thousands of entries.
const BUCKETS: usize = 512;

impl<T: ?Sized> Default for FrozenMap<T> {
    fn default() -> Self {
        Self { buckets: (0..BUCKETS).map(|_| OnceLock::new()).collect(), hasher: RandomState::new() }
    }
}

impl<T: ?Sized> FrozenMap<T> {
    /// The value of `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        let mut at = self.bucket(name)?.get();
        while let Some(entry) = at {
            if *entry.name == *name {
                return Some(&entry.value);
            }
            at = entry.next.get();
        }
        None
    }

    /// Adds a value, unless the name has one by now; gives the one that counts.
    pub(crate) fn insert(&self, name: &str, value: Arc<T>) -> Option<&T> {
        let mut slot = self.bucket(name)?;
        let mut entry = Some(Box::new(Entry { name: name.into(), value, next: OnceLock::new() }));
        loop {
            let found = slot.get_or_init(|| entry.take().unwrap_or_else(|| unreachable!("an entry is placed once")));
            if *found.name == *name {
                return Some(&found.value);
            }
            slot = &found.next;
        }
    }

    fn bucket(&self, name: &str) -> Option<&OnceLock<Box<Entry<T>>>> {
        let hash = self.hasher.hash_one(name);
        self.buckets.get(usize::try_from(hash % BUCKETS as u64).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_first_counts() {
        let map: FrozenMap<str> = FrozenMap::default();
        assert_eq!(map.get("a"), None);
        assert_eq!(map.insert("a", "1".into()), Some("1"));
        assert_eq!(map.insert("a", "2".into()), Some("1"));
        for index in 0..2000 {
            map.insert(&format!("n{index}"), format!("{index}").into());
        }
        assert_eq!(map.get("n1999"), Some("1999"));
        assert_eq!(map.get("a"), Some("1"));
    }
}
