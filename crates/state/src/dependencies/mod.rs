//! Lists of the resources that objects depend on.
//!
//! In a large configuration there are many more mentions than resources: ten thousand blocks that refer to each other make
//! a million. So a list holds numbers, and all lists of one state or run share one table of addresses.

mod addresses;

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, Weak};

use groma_address::ConfigResource;

use addresses::Addresses;
pub(crate) use addresses::ByAddress;
pub use addresses::{AddressTable, OrderedAddresses};

/// The resources that an object's configuration depended on, directly or not, when it was last written.
///
/// Cheap to clone: instances with the same dependencies share one list.
#[derive(Clone, Default)]
pub struct Dependencies(Option<Arc<List>>);

struct List {
    addresses: Arc<Addresses>,
    numbers: Arc<[u32]>,
    parts: Option<Parts>,
}

/// The sources that a list was united from, which are much shorter than the list.
struct Parts {
    own: Box<[u32]>,
    /// Not kept by this: long chains would be taken apart link by link, each within the one before.
    lists: Box<[Weak<List>]>,
}

impl Dependencies {
    /// A list with a table of its own, in Terraform's order, each resource once.
    pub fn new(resources: impl IntoIterator<Item = ConfigResource>) -> Self {
        let mut resources: Vec<_> = resources.into_iter().collect();
        // Terraform writes dependencies sorted by their text.
        resources.sort_by(text_order);
        resources.dedup();
        let mut table = AddressTable::default();
        let numbers = resources.into_iter().map(|resource| table.add(resource)).collect();
        table.list(numbers)
    }

    /// Returns the resources in the list.
    pub fn iter(&self) -> impl Iterator<Item = &ConfigResource> {
        self.0.iter().flat_map(|list| list.numbers.iter().filter_map(|number| list.addresses.get(*number)))
    }

    /// Returns the number of resources.
    pub fn len(&self) -> usize {
        self.numbers().len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether both are the same list in memory.
    pub fn is_same_list(&self, other: &Self) -> bool {
        self.memory_address() == other.memory_address()
    }

    /// The address of the list in memory, which is unique while the list is kept; `None` for the empty list.
    pub(crate) fn memory_address(&self) -> Option<usize> {
        self.0.as_ref().map(|list| Arc::as_ptr(list).addr())
    }

    /// The numbers and the places of the lists that it was put together from; none if it was not.
    pub(crate) fn parts(&self) -> Option<(&[u32], impl Iterator<Item = usize>)> {
        let parts = self.0.as_ref()?.parts.as_ref()?;
        Some((&parts.own, parts.lists.iter().map(|list| list.as_ptr().addr())))
    }

    /// The numbers of the resources.
    pub(crate) fn numbers(&self) -> &[u32] {
        self.0.as_ref().map_or(&[], |list| &list.numbers)
    }
}

impl PartialEq for Dependencies {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            // Numbers of one table can be compared directly.
            (Some(one), Some(two)) if Arc::ptr_eq(&one.addresses, &two.addresses) => one.numbers == two.numbers,
            _ => self.len() == other.len() && self.iter().eq(other.iter()),
        }
    }
}

impl Eq for Dependencies {}

impl fmt::Debug for Dependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(ToString::to_string)).finish()
    }
}

/// The number of sorted lists that are merged one by one. Sorting more lists together is faster.
const FEW: usize = 4;

/// The buffers for uniting lists, reused from one union to the next.
#[derive(Default)]
pub(crate) struct Paper {
    united: Vec<u32>,
    before: Vec<u32>,
}

impl Paper {
    /// All numbers of `own` and of the sorted `lists`, each once, sorted by their rank.
    pub(crate) fn unite<'a>(
        &mut self,
        own: &[u32],
        lists: impl ExactSizeIterator<Item = &'a [u32]>,
        rank: impl Fn(u32) -> u32,
    ) -> &[u32] {
        let Self { united, before } = self;
        united.clear();
        united.extend_from_slice(own);
        // Merging many lists one by one would copy the first ones again and again.
        if lists.len() > FEW {
            lists.for_each(|list| united.extend_from_slice(list));
            united.sort_unstable_by_key(|number| rank(*number));
            united.dedup();
            return united;
        }
        united.sort_unstable_by_key(|number| rank(*number));
        united.dedup();
        for list in lists {
            std::mem::swap(united, before);
            merge(before, list, &rank, united);
        }
        united
    }
}

/// Kept out of its callers, so that what it counts with stays in registers: the lists of ten thousand blocks that refer to each
/// other take millions of steps.
#[inline(never)]
fn merge(one: &[u32], other: &[u32], rank: impl Fn(u32) -> u32, all: &mut Vec<u32>) {
    // Overwrites the rest of an earlier union.
    let enough = one.len() + other.len();
    if all.len() < enough {
        all.resize(enough, 0);
    }
    let (mut at, mut with, mut length) = (0, 0, 0);
    while let (Some(first), Some(second), Some(next)) = (one.get(at), other.get(with), all.get_mut(length)) {
        let (rank_of_first, rank_of_second) = (rank(*first), rank(*second));
        *next = if rank_of_first <= rank_of_second { *first } else { *second };
        // Which list goes on is as good as chance: counting is quicker than deciding.
        at += usize::from(rank_of_first <= rank_of_second);
        with += usize::from(rank_of_second <= rank_of_first);
        length += 1;
    }
    all.truncate(length);
    all.extend_from_slice(one.get(at..).unwrap_or_default());
    all.extend_from_slice(other.get(with..).unwrap_or_default());
}

/// Compares two addresses by their text, byte by byte, without writing it: the order of dependencies in a state file.
pub fn text_order(one: &ConfigResource, other: &ConfigResource) -> Ordering {
    // Interned addresses are mostly the same object.
    if std::ptr::eq(one, other) {
        return Ordering::Equal;
    }
    text_parts(one).flat_map(str::bytes).cmp(text_parts(other).flat_map(str::bytes))
}

/// The address's text in pieces.
pub(crate) fn text_parts(address: &ConfigResource) -> impl Iterator<Item = &str> {
    let resource = &address.resource;
    let modules = address.module.steps().iter().flat_map(|name| ["module.", &**name, "."]);
    modules.chain([resource.mode.prefix(), &*resource.type_name, ".", &*resource.name])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_in_the_order_of_their_text() {
        let addresses = ["module.a.b.c", "data.z.z", "a-b.c", "a.b", "a_b.c", "module.a-b.b.c", "zz.y", "a.b"];
        let list = Dependencies::new(addresses.iter().map(|text| text.parse().unwrap()));
        let mut expected: Vec<_> = addresses.iter().map(ToString::to_string).collect();
        expected.sort();
        expected.dedup();
        assert_eq!(list.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lists_of_a_table_hold_what_was_given_their_numbers_while_it_grows() {
        let mut table = AddressTable::default();
        let mut lists = Vec::new();
        for at in 0..1000_u32 {
            let number = table.add(format!("a.b{at}").parse().unwrap());
            lists.push(table.list([number, 0].into()));
        }
        for (at, list) in lists.iter().enumerate() {
            assert_eq!(list.iter().map(ToString::to_string).collect::<Vec<_>>(), [format!("a.b{at}"), "a.b0".into()]);
        }
    }

    #[test]
    fn lists_of_different_tables_are_equal_by_their_addresses() {
        let list = |texts: &[&str]| Dependencies::new(texts.iter().map(|text| text.parse().unwrap()));
        assert_eq!(list(&["a.b", "c.d"]), list(&["c.d", "a.b"]));
        assert_ne!(list(&["a.b"]), list(&["a.c"]));
        assert_ne!(list(&["a.b"]), list(&[]));
        assert_eq!(list(&[]), Dependencies::default());
    }

    #[test]
    fn a_union_has_everything_once_and_in_order() {
        let mut table = OrderedAddresses::new(
            (10..99).map(|number| format!("a.b{number}")).map(|text| (text.clone(), text.parse().unwrap())),
        );
        let one = table.union(&[7, 3, 7], &[]);
        assert_eq!(one.numbers(), [3, 7]);
        assert!(table.union(&[], std::slice::from_ref(&one)).is_same_list(&one));
        assert!(table.union(&[], &[Dependencies::default()]).is_empty());
        let lists = [table.union(&[1, 3], &[]), table.union(&[9, 0], &[])];
        let other = table.union(&[8], &lists);
        assert_eq!(other.numbers(), [0, 1, 3, 8, 9]);
        let many: Vec<_> = (20..30).map(|number| table.union(&[number, 3], &[])).chain([one, other]).collect();
        assert_eq!(table.union(&[5], &many).numbers(), [0, 1, 3, 5, 7, 8, 9, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
    }

    #[test]
    fn values_derived_from_an_address_are_computed_once() {
        let mut table = AddressTable::default();
        let (one, two) = (table.add("a.b".parse().unwrap()), table.add("c.d".parse().unwrap()));
        let mut known = ByAddress::default();
        let (mut made, mut taken) = (0, Vec::new());
        for list in [table.list([two].into()), table.list([one, two].into()), Dependencies::default()] {
            let make = |_: Option<u32>, address: &str| {
                made += 1;
                address.to_owned()
            };
            known.each(&list, make, |text| taken.push(text.clone()));
        }
        assert_eq!((made, taken), (2, ["c.d", "a.b", "c.d"].map(str::to_owned).to_vec()));
    }
}
