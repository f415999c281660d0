//! The changes of a saved plan. There may be very many, so they are written one by one, and read in groups: never are all
//! of very many in memory both as a plan and as a file has them.

use std::borrow::Cow;

use groma_provider::ImportTarget;
use groma_state::DeposedKey;
use groma_value::CodecError;
use serde::{Deserialize, Serialize};

use super::tables::{Key, Known, Numbered, Unwritable, narrow};
use super::value::{Bytes, StoredPath, StoredValue};
use crate::change::{Action, ActionReason, Importing, ResourceChange};
use crate::deferral::{DeferralReason, DeferredChange, Source};
use crate::plan::Mode;

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
            // A typical change has this size, so that most groups need no further allocation.
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
        // Groups are decoded without the tables, so this can start before the schemas are loaded.
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
        // Bytes after the last change mean that the group is damaged.
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

#[derive(Serialize, Deserialize)]
pub(super) struct Change<'a> {
    resource: u32,
    #[serde(borrow)]
    key: Key<'a>,
    previous: Option<String>,
    deposed: Option<String>,
    kind: u32,
    action: Cow<'a, str>,
    reason: Option<Cow<'a, str>>,
    before: StoredValue<'a>,
    /// The new object; `None` if it equals the prior one.
    after: Option<StoredValue<'a>>,
    replace: Vec<StoredPath<'a>>,
    private: Bytes<'a>,
    identity: Option<StoredValue<'a>>,
    create_before_destroy: bool,
    importing: Option<Import<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Import<'a> {
    id: Option<String>,
    #[serde(borrow)]
    identity: Option<StoredValue<'a>>,
    generated: Option<String>,
}

impl<'a> Change<'a> {
    pub(super) fn of(change: &'a ResourceChange, numbered: &mut Numbered<'a>) -> Result<Self, CodecError> {
        let ty = change.schema.block.implied_type();
        let before = StoredValue::of(&change.before, ty)?;
        // Most changes of a big plan are none: their value is written once.
        let after = if change.action == Action::NoOp { None } else { Some(StoredValue::of(&change.after, ty)?) };
        let resource = numbered.resource(&change.address);
        Ok(Self {
            resource,
            key: Key::of(&change.address.key),
            previous: change.previous_address.as_ref().map(ToString::to_string),
            deposed: change.deposed.as_ref().map(ToString::to_string),
            kind: numbered.kind(&change.address, resource, &change.provider),
            action: action_name(change.action).into(),
            reason: change.reason.map(|reason| reason.name().into()),
            before,
            after,
            replace: change.replace_paths.iter().map(StoredPath::of).collect::<Result<_, CodecError>>()?,
            private: Bytes(change.planned_private.as_ref().into()),
            identity: identity_of(change)?,
            create_before_destroy: change.create_before_destroy,
            importing: change.importing.as_deref().map(Import::of).transpose()?,
        })
    }

    /// The change; none where it is damaged.
    pub(super) fn read(self, known: &Known) -> Option<ResourceChange> {
        let address = known.instance(self.resource, self.key)?;
        let (provider, schema) = known.kind(self.kind)?.clone();
        let ty = schema.block.implied_type();
        let before = self.before.value(ty)?;
        let identity = self.identity.map(|identity| identity.value(&schema.identity.as_ref()?.implied_type()));
        let after = match self.after {
            Some(after) => after.value(ty)?,
            None => before.clone(),
        };
        Some(ResourceChange {
            previous_address: sound(self.previous.map(|text| text.parse().ok().map(Box::new)))?,
            deposed: sound(self.deposed.as_deref().map(DeposedKey::new))?,
            // An unknown reason costs only the explanation, not the change.
            reason: self.reason.as_deref().and_then(ActionReason::from_name),
            replace_paths: self.replace.into_iter().map(StoredPath::path).collect::<Option<_>>()?,
            planned_private: self.private.0.as_ref().into(),
            planned_identity: sound(identity)?,
            create_before_destroy: self.create_before_destroy,
            importing: sound(self.importing.map(|import| import.read().map(Box::new)))?,
            action: action_of(&self.action)?,
            address,
            provider,
            schema,
            before,
            after,
        })
    }
}

impl<'a> Import<'a> {
    fn of(importing: &'a Importing) -> Result<Self, CodecError> {
        let (id, identity) = match &importing.target {
            ImportTarget::Id(id) => (Some(id.clone()), None),
            ImportTarget::Identity(identity) => (None, Some(StoredValue::dynamic(identity)?)),
        };
        Ok(Self { id, identity, generated: importing.generated.clone() })
    }

    fn read(self) -> Option<Importing> {
        let target = match (self.id, self.identity) {
            (Some(id), None) => ImportTarget::Id(id),
            (None, Some(identity)) => ImportTarget::Identity(identity.dynamic_value()?),
            // Exactly one of the two identifies an imported object.
            _ => return None,
        };
        Some(Importing { target, generated: self.generated })
    }
}

fn identity_of<'a>(change: &ResourceChange) -> Result<Option<StoredValue<'a>>, CodecError> {
    let (Some(identity), Some(schema)) = (&change.planned_identity, &change.schema.identity) else { return Ok(None) };
    StoredValue::of(identity, &schema.implied_type()).map(Some)
}

/// Returns an optional member, or an error if it is damaged.
fn sound<T>(found: Option<Option<T>>) -> Option<Option<T>> {
    found.map_or(Some(None), |found| found.map(Some))
}

const ACTIONS: [(Action, &str); 9] = [
    (Action::NoOp, "no-op"),
    (Action::Create, "create"),
    (Action::Read, "read"),
    (Action::Update, "update"),
    (Action::Delete, "delete"),
    (Action::DeleteThenCreate, "delete-then-create"),
    (Action::CreateThenDelete, "create-then-delete"),
    (Action::Forget, "forget"),
    (Action::ForgetThenCreate, "forget-then-create"),
];

pub(super) fn action_name(action: Action) -> &'static str {
    ACTIONS.iter().find(|(known, _)| *known == action).map_or("no-op", |(_, name)| name)
}

pub(super) fn action_of(name: &str) -> Option<Action> {
    ACTIONS.iter().find(|(_, known)| *known == name).map(|(action, _)| *action)
}

const MODES: [(Mode, &str); 3] =
    [(Mode::Normal, "normal"), (Mode::Destroy, "destroy"), (Mode::RefreshOnly, "refresh-only")];

pub(super) fn mode_name(mode: Mode) -> &'static str {
    MODES.iter().find(|(known, _)| *known == mode).map_or("normal", |(_, name)| name)
}

pub(super) fn mode_of(name: &str) -> Option<Mode> {
    MODES.iter().find(|(_, known)| *known == name).map(|(mode, _)| *mode)
}

#[derive(Serialize, Deserialize)]
pub(super) struct Left<'a> {
    reason: String,
    #[serde(borrow)]
    change: Change<'a>,
    open_steps: Vec<u32>,
    is_known: bool,
}

impl<'a> Left<'a> {
    pub(super) fn of(deferred: &'a DeferredChange, numbered: &mut Numbered<'a>) -> Result<Self, CodecError> {
        Ok(Self {
            reason: deferred.reason.name().to_owned(),
            change: Change::of(&deferred.change, numbered)?,
            open_steps: deferred.open_steps.iter().copied().map(narrow).collect(),
            is_known: deferred.source == Source::Known,
        })
    }

    /// The change; none where it is damaged.
    pub(super) fn read(self, known: &Known) -> Option<DeferredChange> {
        Some(DeferredChange {
            reason: DeferralReason::from_name(&self.reason)?,
            change: self.change.read(known)?,
            open_steps: self.open_steps.into_iter().map(|step| step as usize).collect(),
            source: if self.is_known { Source::Known } else { Source::Unknown },
        })
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
