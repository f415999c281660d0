//! Sorting by address, as plans are shown.
//!
//! Addresses are scattered in memory and mostly share their modules and types. The sort key therefore replaces modules and types
//! by numbers and includes the first characters of the name, so hardly any comparison reads an address.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

use groma_address::{ModuleInstance, Resource};

use crate::config_graph::narrow;

/// Sorts by `address`, and things with the same address by `rest`.
pub(super) fn sort_by_address<T>(
    items: &mut [T],
    address: impl Fn(&T) -> (&ModuleInstance, &Resource),
    rest: impl Fn(&T, &T) -> Ordering,
) {
    let compare = |one: &T, other: &T| address(one).cmp(&address(other)).then_with(|| rest(one, other));
    if items.is_sorted_by(|one, other| compare(one, other) != Ordering::Greater) {
        return;
    }
    let mut modules = Ranks::default();
    let mut types = Ranks::default();
    let mut keys: Vec<Key> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let (module, resource) = address(item);
        keys.push(Key {
            module: modules.note(module),
            kind: types.note((resource.mode, &*resource.type_name)),
            name: beginning(&resource.name),
            at: narrow(at),
        });
    }
    let (modules, types) = (modules.ranks(), types.ranks());
    for key in &mut keys {
        key.module = modules[key.module as usize];
        key.kind = types[key.kind as usize];
    }
    keys.sort_by(|one, other| {
        let known = (one.module, one.kind, one.name).cmp(&(other.module, other.kind, other.name));
        known.then_with(|| compare(&items[one.at as usize], &items[other.at as usize]))
    });
    permute(items, keys.into_iter().map(|key| key.at).collect());
}

struct Key {
    module: u32,
    kind: u32,
    name: [u8; 16],
    at: u32,
}

/// The first letters; what is shorter comes first, as it does in the order of texts.
fn beginning(name: &str) -> [u8; 16] {
    let mut letters = [0; 16];
    for (letter, byte) in letters.iter_mut().zip(name.bytes()) {
        *letter = byte;
    }
    letters
}

/// Few things that many have: each gets a number.
struct Ranks<T> {
    numbers: HashMap<T, u32>,
    last: Option<(T, u32)>,
}

impl<T> Default for Ranks<T> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), last: None }
    }
}

impl<T: Copy + Ord + Hash> Ranks<T> {
    /// Its number, in the order of appearance.
    fn note(&mut self, item: T) -> u32 {
        // Neighbours mostly have the same.
        if let Some((last, number)) = &self.last
            && *last == item
        {
            return *number;
        }
        let next = narrow(self.numbers.len());
        let number = *self.numbers.entry(item).or_insert(next);
        self.last = Some((item, number));
        number
    }

    /// By number, the place in order.
    fn ranks(self) -> Vec<u32> {
        let mut sorted: Vec<(T, u32)> = self.numbers.into_iter().collect();
        sorted.sort_unstable_by_key(|(item, _)| *item);
        let mut ranks = vec![0; sorted.len()];
        for (rank, (_, number)) in sorted.into_iter().enumerate() {
            ranks[number as usize] = narrow(rank);
        }
        ranks
    }
}

/// Brings `items` into the order of `from`, the places where they are now, moving each once.
fn permute<T>(items: &mut [T], mut from: Vec<u32>) {
    for start in 0..from.len() {
        let mut to = start;
        loop {
            let next = std::mem::replace(&mut from[to], narrow(to)) as usize;
            if next == start || next == to {
                break;
            }
            items.swap(to, next);
            to = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use groma_address::AbsResource;
    use proptest::prelude::*;

    use super::*;

    fn address() -> impl Strategy<Value = (AbsResource, u8)> {
        let text = "(module[.][ab](\\[[0-9]\\])?[.])?(data[.])?(x_y|x)[.](a|b|a_very_long_name_of_a_resource_[0-9])";
        (text, 0_u8..3).prop_map(|(text, key)| (text.parse().unwrap(), key))
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_addresses(mut items in prop::collection::vec(address(), 0..30)) {
            let mut expected = items.clone();
            expected.sort();
            sort_by_address(&mut items, |(item, _)| (&item.module, &item.resource), |one, other| one.1.cmp(&other.1));
            prop_assert_eq!(items, expected);
        }
    }
}
