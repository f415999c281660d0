//! The changes of a saved plan. There may be very many, so they are written and read one by one: never are all of them in
//! memory both as a plan and as a file has them.

use serde::{Deserialize, Serialize};

use super::change::Change;
use super::problem::Unwritable;
use super::tables::{Known, Numbered};
use super::value::Bytes;
use crate::plan::ResourceChange;

/// Changes in groups.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Changes<'a>(#[serde(borrow)] Vec<Group<'a>>);

/// Changes one after the other, each in its form.
#[derive(Serialize, Deserialize)]
struct Group<'a> {
    count: usize,
    #[serde(borrow)]
    bytes: Bytes<'a>,
}

/// How many changes are together.
const GROUP: usize = 1024;

/// The fewest bytes that a change takes in the file.
const LEAST: usize = 16;

impl Changes<'_> {
    pub(super) fn of<'a>(changes: &'a [ResourceChange], numbered: &mut Numbered<'a>) -> Result<Self, Unwritable> {
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

    /// How many there are; what a damaged file says about their number is not to cost memory.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|group| group.count.min(group.bytes.0.len() / LEAST)).sum()
    }

    /// The changes; none where they are damaged.
    pub(super) fn read(&self, known: &Known) -> Option<Vec<ResourceChange>> {
        let mut changes = Vec::with_capacity(self.count());
        for group in &self.0 {
            let mut bytes = &*group.bytes.0;
            for _ in 0..group.count {
                let (change, rest) = postcard::take_from_bytes::<Change<'_>>(bytes).ok()?;
                changes.push(change.read(known)?);
                bytes = rest;
            }
            if !bytes.is_empty() {
                return None;
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
        assert_eq!(Changes(Vec::new()).read(&known).map(|changes| changes.len()), Some(0));
        assert_eq!(Changes(vec![group(0, b""), group(0, b"")]).read(&known).map(|changes| changes.len()), Some(0));
        for (count, bytes) in [(1, &b""[..]), (0, &b"x"[..]), (usize::MAX, &b"xyz"[..])] {
            assert!(Changes(vec![group(count, bytes), group(0, b"")]).read(&known).is_none());
            assert!(Changes(vec![group(0, b""), group(count, bytes)]).read(&known).is_none());
        }
    }
}
