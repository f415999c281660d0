//! Invocations of actions: side effects of providers before or after changes, or on request.

use std::sync::Arc;

use groma_address::{ActionInstance, ProviderConfig, ResourceInstance};
use groma_provider::Schema;
use groma_value::Value;

/// The lifecycle event that triggers an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionEvent {
    /// A new object is about to be made.
    BeforeCreate,
    /// A new object was made.
    AfterCreate,
    /// An object is about to be changed in place.
    BeforeUpdate,
    /// An object was changed in place.
    AfterUpdate,
}

impl ActionEvent {
    const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::BeforeCreate, "before_create", "BeforeCreate"),
        (Self::AfterCreate, "after_create", "AfterCreate"),
        (Self::BeforeUpdate, "before_update", "BeforeUpdate"),
        (Self::AfterUpdate, "after_update", "AfterUpdate"),
    ];

    /// The event that a configuration calls `keyword`.
    pub fn of_keyword(keyword: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == keyword).map(|(event, ..)| *event)
    }

    /// The event with this name in documents.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(.., known)| *known == name).map(|(event, ..)| *event)
    }

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(event, ..)| *event == self).map_or("", |(.., name)| name)
    }

    /// Whether it comes before the change.
    pub fn is_before(self) -> bool {
        matches!(self, Self::BeforeCreate | Self::BeforeUpdate)
    }
}

/// The trigger of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An explicit request with `-invoke`.
    Request,
    /// An `action_trigger` block of a resource.
    Trigger {
        /// The instance that changes.
        resource: ResourceInstance,
        /// The triggering event.
        event: ActionEvent,
        /// The position of the `action_trigger` block in the resource, from 0.
        block: u32,
        /// The position in the block's list of actions, from 0.
        entry: u32,
    },
}

/// One invocation of an action.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The invoked action instance.
    pub action: ActionInstance,
    /// The trigger of the invocation.
    pub cause: Cause,
    /// The provider configuration that invokes it.
    pub provider: ProviderConfig,
    /// The schema of its type.
    pub schema: Arc<Schema>,
    /// The configuration as far as it was known when planning and may be kept; sensitive parts are marked.
    pub config: Value,
}

impl Invocation {
    /// The event and the changed instance, unless a person asked.
    pub fn trigger(&self) -> Option<(&ResourceInstance, ActionEvent)> {
        match &self.cause {
            Cause::Request => None,
            Cause::Trigger { resource, event, .. } => Some((resource, *event)),
        }
    }

    /// Their order in a plan: as the blocks list them, for one resource after the other.
    pub fn order(&self) -> (Option<(&ResourceInstance, u32, u32, ActionEvent)>, String) {
        match &self.cause {
            Cause::Request => (None, self.action.to_string()),
            Cause::Trigger { resource, event, block, entry } => {
                (Some((resource, *block, *entry, *event)), String::new())
            }
        }
    }
}
