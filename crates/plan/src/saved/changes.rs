//! The changes of a saved plan. There may be very many, so they are written one by one, and read in groups: never are all
//! of very many in memory both as a plan and as a file has them.

use serde::{Deserialize, Serialize};

use super::change::Change;
use super::tables::Unwritable;
use super::tables::{Known, Numbered};
use super::value::Bytes;
use crate::change::ResourceChange;

/// Changes in groups of [`GROUP`].
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Changes<'a>(#[serde(borrow)] Vec<Group<'a>>);

/// Changes one after the other, each in its form.
#[derive(Serialize, Deserialize)]
struct Group<'a> {
    count: usize,
    #[serde(borrow)]
    bytes: Bytes<'a>,
}

/// Number of changes in a group.
const GROUP: usize = 1024;

/// Number of groups that are decoded before the tables are available.
const AHEAD: usize = 64;

/// The fewest bytes that a change takes in the file.
const LEAST: usize = 16;

/// Changes on their way from the file to the plan.
#[derive(Default)]
pub(super) struct Opened<'a> {
    first: Vec<Vec<Change<'a>>>,
    rest: Vec<Group<'a>>,
}

impl<'a> Changes<'a> {
    pub(super) fn of<'p>(changes: &'p [ResourceChange], numbered: &mut Numbered<'p>) -> Result<Self, Unwritable> {
        let mut groups = Vec::new();
        for group in changes.chunks(GROUP) {
            let mut bytes = Vec::with_capacity(group.len() * 64);
            for change in group {
                bytes = postcard::to_extend(&Change::of(change, numbered)?, bytes)?;
            }
            groups.push(Group { count: group.len(), bytes: Bytes(bytes.into()) });
        }
        Ok(Self(groups))
    }

    /// Opens the first groups, which takes no schemas; none where one is damaged.
    pub(super) fn open(self) -> Option<Opened<'a>> {
        let mut groups = self.0.into_iter();
        let first = groups.by_ref().take(AHEAD).map(Group::open).collect::<Option<_>>()?;
        Some(Opened { first, rest: groups.collect() })
    }
}

impl<'a> Group<'a> {
    /// Returns the number of changes in a group. A damaged file's claim about it must not cost memory.
    fn count(&self) -> usize {
        self.count.min(self.bytes.0.len() / LEAST)
    }

    fn open(self) -> Option<Vec<Change<'a>>> {
        let mut changes = Vec::with_capacity(self.count());
        let mut bytes = self.bytes.in_file()?;
        for _ in 0..self.count {
            let (change, rest) = postcard::take_from_bytes(bytes).ok()?;
            changes.push(change);
            bytes = rest;
        }
        bytes.is_empty().then_some(changes)
    }
}

impl Opened<'_> {
    /// Returns the number of changes in all groups.
    pub(super) fn count(&self) -> usize {
        self.first.iter().map(Vec::len).chain(self.rest.iter().map(Group::count)).sum()
    }

    /// The changes; none where they are damaged.
    pub(super) fn read(self, known: &Known) -> Option<Vec<ResourceChange>> {
        let mut changes = Vec::with_capacity(self.count());
        for group in self.first.into_iter().map(Some).chain(self.rest.into_iter().map(Group::open)) {
            for change in group? {
                changes.push(change.read(known)?);
            }
        }
        Some(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_more_or_fewer_changes_than_they_say_are_damaged() {
        let known = Known::default();
        let group = |count, bytes: &'static [u8]| Group { count, bytes: Bytes(bytes.into()) };
        let read = |groups| Changes(groups).open()?.read(&known);
        assert_eq!(read(Vec::new()).map(|changes| changes.len()), Some(0));
        assert_eq!(read(vec![group(0, b""), group(0, b"")]).map(|changes| changes.len()), Some(0));
        for (count, bytes) in [(1, &b""[..]), (0, &b"x"[..]), (usize::MAX, &b"xyz"[..])] {
            assert!(read(vec![group(count, bytes), group(0, b"")]).is_none());
            assert!(read(vec![group(0, b""), group(count, bytes)]).is_none());
            let many = (0..AHEAD).map(|_| group(0, b""));
            assert!(read(many.chain([group(count, bytes)]).collect()).is_none(), "among those that are opened later");
        }
    }
}
