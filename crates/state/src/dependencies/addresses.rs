//! The table of addresses that the numbers in dependency lists refer to.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use groma_address::ConfigResource;

use super::{Dependencies, List, Paper, Parts};

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
        if let Addresses::Growing(rooms) = &*self.addresses {
            rooms.set(number, address);
        }
        self.next += 1;
        number
    }

    /// The list of these numbers, which are of addresses in Terraform's order (see [`super::text_order`]).
    pub fn list(&self, numbers: Arc<[u32]>) -> Dependencies {
        self.addresses.list(numbers, None)
    }
}

/// Addresses of which all are known from the beginning, with their places in Terraform's order as numbers.
#[derive(Default)]
pub struct OrderedAddresses {
    addresses: Arc<Addresses>,
    paper: Paper,
}

impl OrderedAddresses {
    /// These addresses, each with its text, in Terraform's order (see [`super::text_order`]).
    pub fn new(resources: impl IntoIterator<Item = (String, ConfigResource)>) -> Self {
        let mut ordered = Ordered::default();
        for (text, resource) in resources {
            ordered.texts.push_str(&text);
            ordered.resources.push((resource, ordered.texts.len()));
        }
        Self { addresses: Arc::new(Addresses::Ordered(ordered)), paper: Paper::default() }
    }

    /// Unites these numbers with all `lists`, which must be of this table.
    pub fn union(&mut self, own: &[u32], lists: &[Dependencies]) -> Dependencies {
        let lists: Vec<&Arc<List>> = lists.iter().filter_map(|list| list.0.as_ref()).collect();
        let parts = match (&*lists, own) {
            // A union with nothing else is the list itself, so both share their memory.
            ([only], []) => return Dependencies(Some(Arc::clone(only))),
            ([], _) => None,
            // The sources are kept weakly: they shorten the journal, but must not be kept alive for it.
            _ => Some(Parts { own: own.into(), lists: lists.iter().map(|list| Arc::downgrade(list)).collect() }),
        };
        let numbers = self.paper.unite(own, lists.iter().map(|list| &*list.numbers), |number| number);
        self.addresses.list(numbers.into(), parts)
    }
}

/// The interned addresses, by number.
pub(super) enum Addresses {
    /// Numbers are in order of first use.
    Growing(Box<Rooms>),
    /// As they are sorted.
    Ordered(Ordered),
}

impl Default for Addresses {
    fn default() -> Self {
        Self::Growing(Box::default())
    }
}

impl Addresses {
    fn list(self: &Arc<Self>, numbers: Arc<[u32]>, parts: Option<Parts>) -> Dependencies {
        // An empty list needs no allocation, and most objects without dependencies share it.
        if numbers.is_empty() {
            return Dependencies::default();
        }
        Dependencies(Some(Arc::new(List { addresses: Arc::clone(self), numbers, parts })))
    }

    pub(super) fn get(&self, number: u32) -> Option<&ConfigResource> {
        match self {
            Self::Growing(rooms) => rooms.get(number),
            Self::Ordered(ordered) => ordered.get(number).map(|(resource, _)| resource),
        }
    }

    /// Tells `of` the rank, if addresses have one, and the text of an address.
    fn with_address<T>(&self, number: u32, of: impl FnOnce(Option<u32>, &str) -> T) -> Option<T> {
        match self {
            Self::Growing(rooms) => rooms.get(number).map(|resource| of(None, &resource.to_string())),
            Self::Ordered(ordered) => ordered.get(number).map(|(_, text)| of(Some(number), text)),
        }
    }
}

/// The texts are asked for often, so they are close together.
#[derive(Default)]
pub(super) struct Ordered {
    /// With the end of each one's text.
    resources: Vec<(ConfigResource, usize)>,
    texts: String,
}

impl Ordered {
    fn get(&self, number: u32) -> Option<(&ConfigResource, &str)> {
        let at = number as usize;
        let (resource, end) = self.resources.get(at)?;
        let start = at.checked_sub(1).and_then(|before| self.resources.get(before)).map_or(0, |(_, end)| *end);
        Some((resource, self.texts.get(start..*end)?))
    }
}

/// Grows while lists of it are read elsewhere: what is in it stays where it is, in rooms of which
/// each has twice the places of the one before.
#[derive(Default)]
pub(super) struct Rooms([OnceLock<Room>; ROOMS]);

type Room = Box<[OnceLock<ConfigResource>]>;

/// The places of the first room, as a power of two.
const FIRST: u32 = 4;
const ROOMS: usize = (u32::BITS - FIRST + 1) as usize;

/// In which room a number has its place, and where there.
fn slot(number: u32) -> (usize, usize) {
    let shifted = u64::from(number) + (1 << FIRST);
    let room = shifted.ilog2() - FIRST;
    (room as usize, (shifted - (1 << (room + FIRST))) as usize)
}

impl Rooms {
    fn get(&self, number: u32) -> Option<&ConfigResource> {
        let (room, at) = slot(number);
        self.0.get(room)?.get()?.get(at)?.get()
    }

    fn set(&self, number: u32, address: ConfigResource) {
        // Shared references suffice to add an address, because readers of older lists use the table at the same time.
        let (room, at) = slot(number);
        let make = || (0..1_usize << (room as u32 + FIRST)).map(|_| OnceLock::new()).collect();
        if let Some(slot) = self.0.get(room).and_then(|found| found.get_or_init(make).get(at)) {
            slot.get_or_init(|| address);
        }
    }
}

/// Values that are computed once for each address, however many lists contain it.
pub(crate) struct ByAddress<T>(HashMap<usize, Noted<T>, RandomState>);

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
    /// Calls `take` with what `make` makes of the text of each address of a list, in their order, and of the address's rank
    /// where it has one.
    pub(crate) fn each(&mut self, list: &Dependencies, make: impl FnMut(Option<u32>, &str) -> T, take: impl FnMut(&T)) {
        self.each_of(list, list.numbers(), make, take);
    }

    /// Does so for `numbers`, which are of the list's table.
    pub(crate) fn each_of(
        &mut self,
        list: &Dependencies,
        numbers: &[u32],
        mut make: impl FnMut(Option<u32>, &str) -> T,
        mut take: impl FnMut(&T),
    ) {
        let Some(list) = &list.0 else { return };
        // Tables are identified by their address in memory, which stays taken while the value holds the table.
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
                    let Some(made) = noted.addresses.with_address(*number, &mut make) else { continue };
                    take(empty.insert(made));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_own_address() {
        assert_eq!(slot(0), (0, 0));
        assert_eq!(slot(15), (0, 15));
        assert_eq!(slot(16), (1, 0));
        let (room, at) = slot(u32::MAX);
        assert!(room < ROOMS && (at as u64) < 1 << (room as u32 + FIRST));
    }
}
