//! Lists of the resources that objects depend on.
//!
//! In a large configuration there are many more mentions than resources: ten thousand blocks that refer to each other make
//! a million. So a list is numbers, and the lists of one state or one run share the table of addresses that these stand for.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use foldhash::fast::RandomState;
use groma_address::ConfigResource;

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

/// What a list was put together from: that is much shorter.
struct Parts {
    own: Box<[u32]>,
    /// Not kept by this: long chains would be taken apart link by link, each within the one before.
    lists: Box<[Weak<List>]>,
}

impl Dependencies {
    /// A list with a table of its own, in Terraform's order, each resource once.
    pub fn new(resources: impl IntoIterator<Item = ConfigResource>) -> Self {
        let mut resources: Vec<_> = resources.into_iter().collect();
        resources.sort_by(text_order);
        resources.dedup();
        let mut table = AddressTable::default();
        let numbers = resources.into_iter().map(|resource| table.add(resource)).collect();
        table.list(numbers)
    }

    /// The resources.
    pub fn iter(&self) -> impl Iterator<Item = &ConfigResource> {
        self.0.iter().flat_map(|list| list.numbers.iter().filter_map(|number| list.addresses.get(*number)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.numbers().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether both are the same list in memory.
    pub fn is_same_list(&self, other: &Self) -> bool {
        self.place() == other.place()
    }

    /// Where the list is in memory, which is its own as long as it is kept; none for the empty one.
    pub(crate) fn place(&self) -> Option<usize> {
        self.0.as_ref().map(|list| Arc::as_ptr(list).addr())
    }

    /// The numbers and the places of the lists that it was put together from; none if it was not.
    pub(crate) fn parts(&self) -> Option<(&[u32], impl Iterator<Item = usize>)> {
        let parts = self.0.as_ref()?.parts.as_ref()?;
        Some((&parts.own, parts.lists.iter().map(|list| list.as_ptr().addr())))
    }

    /// The numbers that stand for the resources.
    pub(crate) fn numbers(&self) -> &[u32] {
        self.0.as_ref().map_or(&[], |list| &list.numbers)
    }
}

impl PartialEq for Dependencies {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
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

/// Gives addresses the numbers that lists are made of.
#[derive(Default)]
pub struct AddressTable {
    addresses: Arc<Addresses>,
    next: u32,
}

impl AddressTable {
    /// For addresses that are added in Terraform's order (see [`text_order`]).
    pub fn in_order() -> Self {
        Self { addresses: Arc::new(Addresses { is_in_order: true, ..Addresses::default() }), next: 0 }
    }

    /// The number of one more address, of which there are fewer than four thousand million.
    pub fn add(&mut self, address: ConfigResource) -> u32 {
        let number = self.next;
        self.addresses.set(number, address);
        self.next += 1;
        number
    }

    /// The list of these numbers, which are of addresses in Terraform's order (see [`text_order`]).
    pub fn list(&self, numbers: Arc<[u32]>) -> Dependencies {
        if numbers.is_empty() {
            return Dependencies::default();
        }
        Dependencies(Some(Arc::new(List { addresses: Arc::clone(&self.addresses), numbers, parts: None })))
    }

    /// The list of these numbers and all that are in `lists`, which are of this table. Its addresses were added in
    /// Terraform's order: see [`AddressTable::in_order`].
    pub fn union(&self, own: Vec<u32>, lists: &[Dependencies]) -> Dependencies {
        let lists: Vec<&Arc<List>> = lists.iter().filter_map(|list| list.0.as_ref()).collect();
        match (&*lists, &*own) {
            ([], _) => return self.list(united(own, std::iter::empty(), |number| number).into()),
            ([only], []) => return Dependencies(Some(Arc::clone(only))),
            _ => {}
        }
        let parts =
            Parts { own: own.as_slice().into(), lists: lists.iter().map(|list| Arc::downgrade(list)).collect() };
        let numbers = united(own, lists.iter().map(|list| &*list.numbers), |number| number).into();
        Dependencies(Some(Arc::new(List { addresses: Arc::clone(&self.addresses), numbers, parts: Some(parts) })))
    }
}

/// How many sorted lists are united one after the other: more are quicker sorted together.
const FEW: usize = 4;

/// All numbers of `own` and of the sorted `lists`, each once, sorted by their rank.
pub(crate) fn united<'a>(
    mut own: Vec<u32>,
    lists: impl ExactSizeIterator<Item = &'a [u32]>,
    rank: impl Fn(u32) -> u32,
) -> Vec<u32> {
    let is_few = lists.len() <= FEW;
    if !is_few {
        lists.for_each(|list| own.extend_from_slice(list));
        own.sort_unstable_by_key(|number| rank(*number));
        own.dedup();
        return own;
    }
    own.sort_unstable_by_key(|number| rank(*number));
    own.dedup();
    lists.fold(own, |one, other| unite(&one, other, &rank))
}

fn unite(one: &[u32], other: &[u32], rank: impl Fn(u32) -> u32) -> Vec<u32> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one, other);
    while let ([first, ..], [second, ..]) = (one, other) {
        let (rank_of_first, rank_of_second) = (rank(*first), rank(*second));
        all.push(if rank_of_first <= rank_of_second { *first } else { *second });
        // Which list goes on is as good as chance: counting is quicker than deciding.
        one = &one[usize::from(rank_of_first <= rank_of_second)..];
        other = &other[usize::from(rank_of_second <= rank_of_first)..];
    }
    all.extend_from_slice(one);
    all.extend_from_slice(other);
    all
}

/// Addresses by number. Grows while lists of it are read elsewhere: what is in it stays where it is, in rooms of which
/// each has twice the places of the one before.
#[derive(Default)]
struct Addresses {
    rooms: [OnceLock<Room>; ROOMS],
    is_in_order: bool,
}

type Room = Box<[OnceLock<ConfigResource>]>;

/// The places of the first room, as a power of two.
const FIRST: u32 = 4;
const ROOMS: usize = (u32::BITS - FIRST + 1) as usize;

/// In which room a number has its place, and where there.
fn place(number: u32) -> (usize, usize) {
    let shifted = u64::from(number) + (1 << FIRST);
    let room = shifted.ilog2() - FIRST;
    (room as usize, (shifted - (1 << (room + FIRST))) as usize)
}

impl Addresses {
    fn get(&self, number: u32) -> Option<&ConfigResource> {
        let (room, at) = place(number);
        self.rooms.get(room)?.get()?.get(at)?.get()
    }

    fn set(&self, number: u32, address: ConfigResource) {
        let (room, at) = place(number);
        let make = || (0..1_usize << (room as u32 + FIRST)).map(|_| OnceLock::new()).collect();
        if let Some(slot) = self.rooms.get(room).and_then(|found| found.get_or_init(make).get(at)) {
            slot.get_or_init(|| address);
        }
    }
}

/// What somebody has worked out for the addresses of lists: once for each, however many lists mention it.
pub struct ByAddress<T>(HashMap<usize, Noted<T>, RandomState>);

/// By number; keeps the table, so that its place in memory stays its own.
struct Noted<T> {
    addresses: Arc<Addresses>,
    values: Vec<Option<T>>,
}

impl<T> Default for ByAddress<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T> ByAddress<T> {
    /// Calls `take` with what `make` makes of each address of a list, in their order.
    pub fn each(&mut self, list: &Dependencies, mut make: impl FnMut(&ConfigResource) -> T, take: impl FnMut(&T)) {
        self.each_of(list, list.numbers(), |_, address| make(address), take);
    }

    /// Does so for `numbers`, which are of the list's table; `make` also gets the address's rank, if that has one.
    pub(crate) fn each_of(
        &mut self,
        list: &Dependencies,
        numbers: &[u32],
        mut make: impl FnMut(Option<u32>, &ConfigResource) -> T,
        mut take: impl FnMut(&T),
    ) {
        let Some(list) = &list.0 else { return };
        let table = Arc::as_ptr(&list.addresses).addr();
        let noted =
            self.0.entry(table).or_insert_with(|| Noted { addresses: Arc::clone(&list.addresses), values: Vec::new() });
        for number in numbers {
            let at = *number as usize;
            if at >= noted.values.len() {
                noted.values.resize_with(at + 1, || None);
            }
            match &mut noted.values[at] {
                Some(value) => take(value),
                empty => {
                    let Some(address) = noted.addresses.get(*number) else { continue };
                    let rank = noted.addresses.is_in_order.then_some(*number);
                    take(empty.insert(make(rank, address)));
                }
            }
        }
    }
}

/// Compares two addresses by their text, byte by byte, without writing it: the order of dependencies in a state file.
pub fn text_order(one: &ConfigResource, other: &ConfigResource) -> Ordering {
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
        let mut table = AddressTable::in_order();
        (10..99).for_each(|number| _ = table.add(format!("a.b{number}").parse().unwrap()));
        let one = table.union(vec![7, 3, 7], &[]);
        assert_eq!(one.numbers(), [3, 7]);
        assert!(table.union(vec![], std::slice::from_ref(&one)).is_same_list(&one));
        assert!(table.union(vec![], &[Dependencies::default()]).is_empty());
        let other = table.union(vec![8], &[table.union(vec![1, 3], &[]), table.union(vec![9, 0], &[])]);
        assert_eq!(other.numbers(), [0, 1, 3, 8, 9]);
        let many: Vec<_> = (20..30).map(|number| table.union(vec![number, 3], &[])).chain([one, other]).collect();
        assert_eq!(
            table.union(vec![5], &many).numbers(),
            [0, 1, 3, 5, 7, 8, 9, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]
        );
    }

    #[test]
    fn what_is_made_of_an_address_is_made_once() {
        let mut table = AddressTable::default();
        let (one, two) = (table.add("a.b".parse().unwrap()), table.add("c.d".parse().unwrap()));
        let mut known = ByAddress::default();
        let (mut made, mut taken) = (0, Vec::new());
        for list in [table.list([two].into()), table.list([one, two].into()), Dependencies::default()] {
            let make = |address: &ConfigResource| {
                made += 1;
                address.to_string()
            };
            known.each(&list, make, |text| taken.push(text.clone()));
        }
        assert_eq!((made, taken), (2, ["c.d", "a.b", "c.d"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn every_number_has_a_place_of_its_own() {
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(15), (0, 15));
        assert_eq!(place(16), (1, 0));
        let (room, at) = place(u32::MAX);
        assert!(room < ROOMS && (at as u64) < 1 << (room as u32 + FIRST));
    }
}
