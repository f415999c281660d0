//! Lists of the resources that objects depend on.
//!
//! In a large configuration there are many more mentions than resources: ten thousand blocks that refer to each other make
//! a million. So a list is numbers, and the lists of one state or one run share the table of addresses that these stand for.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

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

    fn numbers(&self) -> &[u32] {
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
        Dependencies(Some(Arc::new(List { addresses: Arc::clone(&self.addresses), numbers })))
    }
}

/// Addresses by number. Grows while lists of it are read elsewhere: what is in it stays where it is, in rooms of which
/// each has twice the places of the one before.
#[derive(Default)]
struct Addresses([OnceLock<Room>; ROOMS]);

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
        self.0.get(room)?.get()?.get(at)?.get()
    }

    fn set(&self, number: u32, address: ConfigResource) {
        let (room, at) = place(number);
        let make = || (0..1_usize << (room as u32 + FIRST)).map(|_| OnceLock::new()).collect();
        if let Some(slot) = self.0.get(room).and_then(|found| found.get_or_init(make).get(at)) {
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
    pub fn each(&mut self, list: &Dependencies, mut make: impl FnMut(&ConfigResource) -> T, mut take: impl FnMut(&T)) {
        let Some(list) = &list.0 else { return };
        let table = Arc::as_ptr(&list.addresses).addr();
        let noted =
            self.0.entry(table).or_insert_with(|| Noted { addresses: Arc::clone(&list.addresses), values: Vec::new() });
        for number in list.numbers.iter() {
            let at = *number as usize;
            if at >= noted.values.len() {
                noted.values.resize_with(at + 1, || None);
            }
            let Some(address) = noted.addresses.get(*number) else { continue };
            take(noted.values[at].get_or_insert_with(|| make(address)));
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
