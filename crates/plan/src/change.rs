//! The changes of objects and of outputs.

use std::sync::Arc;

use groma_address::{Name, ProviderConfig, ResourceInstance};
use groma_provider::{ImportTarget, Schema};
use groma_state::DeposedKey;
use groma_value::{Path, Value};

use crate::action::{Action, ActionReason};

/// The change of one object.
#[derive(Clone, Debug)]
pub struct ResourceChange {
    /// The address of the instance.
    pub address: ResourceInstance,
    /// The address before a move.
    pub previous_address: Option<Box<ResourceInstance>>,
    /// Set when the object is a deposed one of the instance.
    pub deposed: Option<DeposedKey>,
    /// The provider configuration that manages it.
    pub provider: Arc<ProviderConfig>,
    /// The schema of its type; both values conform to it.
    pub schema: Arc<Schema>,
    /// The planned action.
    pub action: Action,
    /// The reason for the action, if it needs an explanation.
    pub reason: Option<ActionReason>,
    /// The prior object; null for a creation. Sensitive parts are marked.
    pub before: Value,
    /// The object after: null if there will be none. What apply will know is unknown; sensitive parts are marked.
    pub after: Value,
    /// The changed paths that forced a replacement.
    pub replace_paths: Vec<Path>,
    /// The provider's bytes for apply (PL-44).
    pub planned_private: Arc<[u8]>,
    /// The identity that the provider plans; it may be unknown before the object exists (LC-31). For
    /// drift: the identity of an object that is gone.
    pub planned_identity: Option<Value>,
    /// Whether a replacement creates first; goes into the state for the destroy to come (PL-11).
    pub create_before_destroy: bool,
    /// Set when the object is taken over from outside (PL-26).
    pub importing: Option<Box<Importing>>,
}

/// The identification of an imported object.
#[derive(Clone, Debug, PartialEq)]
pub struct Importing {
    /// By an id, or by an identity.
    pub target: ImportTarget,
    /// The text of the block that was written for it, where it had none.
    pub generated: Option<String>,
}

impl Importing {
    /// Completes an import by identity with the identity that the provider returned, which includes optional parts.
    pub fn complete(&mut self, found: Option<&Value>) {
        if let (ImportTarget::Identity(identity), Some(found)) = (&mut self.target, found) {
            identity.clone_from(found);
        }
    }

    /// The id, if it was named by one.
    pub fn id(&self) -> Option<&str> {
        match &self.target {
            ImportTarget::Id(id) => Some(id),
            ImportTarget::Identity(_) => None,
        }
    }
}

/// The change of one output value of the root module.
#[derive(Clone, Debug)]
pub struct OutputChange {
    /// The name of the output.
    pub name: Name,
    /// `NoOp`, `Create`, `Update` or `Delete`.
    pub action: Action,
    /// The value before; null if there was none.
    pub before: Value,
    /// The value after; null if there will be none.
    pub after: Value,
    /// Whether the output, before or after, is sensitive.
    pub sensitive: bool,
}
