//! The changes of a saved plan. There may be very many, so they are written and read one by one: never are all of them in
//! memory both as a plan and as a file has them. In large plans two threads read them.

use std::thread;

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

    /// The changes; none where they are damaged.
    pub(super) fn read(&self, known: &Known) -> Option<Vec<ResourceChange>> {
        let (first, second) = self.0.split_at(self.0.len().div_ceil(2));
        thread::scope(|scope| {
            let read_second = || read(second, known, 0);
            let started = match second {
                [] => None,
                _ => thread::Builder::new().name("changes".to_owned()).spawn_scoped(scope, read_second).ok(),
            };
            let mut changes = read(first, known, count(second))?;
            let rest = match started {
                Some(thread) => thread.join().ok()?,
                None => read_second(),
            };
            changes.append(&mut rest?);
            Some(changes)
        })
    }
}

/// The changes of some groups, in a list with room for `more`.
fn read(groups: &[Group<'_>], known: &Known, more: usize) -> Option<Vec<ResourceChange>> {
    let mut changes = Vec::with_capacity(count(groups).checked_add(more)?);
    for group in groups {
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

/// How many changes there are; what a damaged file says about their number is not to cost memory.
fn count(groups: &[Group<'_>]) -> usize {
    groups.iter().map(|group| group.count.min(group.bytes.0.len() / LEAST)).sum()
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
