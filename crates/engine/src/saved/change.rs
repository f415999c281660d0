//! One change of a saved plan.

use std::borrow::Cow;

use groma_provider::ImportTarget;
use groma_state::DeposedKey;
use groma_value::CodecError;
use serde::{Deserialize, Serialize};

use super::key::Key;
use super::names::{action_name, action_of};
use super::tables::{Known, Numbered};
use super::value::{Bytes, StoredPath, StoredValue};
use crate::plan::{Action, ActionReason, Importing, ResourceChange};

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
