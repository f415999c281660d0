//! The changes of objects and of outputs, with their actions and the reasons for them.

use std::sync::Arc;

use groma_address::{Name, ProviderConfig, ResourceInstance};
use groma_provider::{ImportTarget, Schema};
use groma_state::DeposedKey;
use groma_value::{Path, Value};

use crate::invocation::ActionEvent;

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

/// The import of a change: the identification of the existing object.
#[derive(Clone, Debug, PartialEq)]
pub struct Importing {
    /// The `id` or `identity` of the import block.
    pub target: ImportTarget,
    /// The generated configuration block, for a resource that has none.
    pub generated: Option<String>,
}

impl Importing {
    /// Completes an import by identity with the identity that the provider returned, which includes optional parts.
    pub fn complete(&mut self, found: Option<&Value>) {
        // Optional parts of an identity may be missing in the configuration, but the plan must name the object
        // completely.
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

/// The action that is planned for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// No change (PL-08).
    NoOp,
    /// A new object (PL-02).
    Create,
    /// A data resource is read during apply (PL-07).
    Read,
    /// The object changes in place (PL-04).
    Update,
    /// The object goes (PL-03).
    Delete,
    /// Replacement, the old object first (PL-09).
    DeleteThenCreate,
    /// Replacement, the new object first (PL-10).
    CreateThenDelete,
    /// The object stays but is no longer managed (PL-25).
    Forget,
    /// Replacement, where the old object stays and is no longer managed (`destroy = false`).
    ForgetThenCreate,
}

impl Action {
    /// Whether a change of this kind has actions of this event invoked.
    pub fn has(self, event: ActionEvent) -> bool {
        match event {
            // A replacement runs the actions of a creation, since it has no update.
            ActionEvent::BeforeCreate | ActionEvent::AfterCreate => self == Self::Create || self.is_replace(),
            ActionEvent::BeforeUpdate | ActionEvent::AfterUpdate => self == Self::Update,
        }
    }

    /// Whether it is one of the replacements.
    pub fn is_replace(self) -> bool {
        matches!(self, Self::DeleteThenCreate | Self::CreateThenDelete | Self::ForgetThenCreate)
    }

    /// The names that the plan JSON uses.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::NoOp => &["no-op"],
            Self::Create => &["create"],
            Self::Read => &["read"],
            Self::Update => &["update"],
            Self::Delete => &["delete"],
            Self::DeleteThenCreate => &["delete", "create"],
            Self::CreateThenDelete => &["create", "delete"],
            Self::Forget => &["forget"],
            Self::ForgetThenCreate => &["forget", "create"],
        }
    }
}

/// The reason for an action, if the configuration alone does not explain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionReason {
    /// The object is tainted (PL-05).
    ReplaceBecauseTainted,
    /// The provider cannot change an attribute in place (PL-40).
    ReplaceBecauseCannotUpdate,
    /// The replace option names it (PL-60).
    ReplaceByRequest,
    /// `replace_triggered_by` (PL-21).
    ReplaceByTriggers,
    /// No block of that address.
    DeleteBecauseNoResourceConfig,
    /// The block now repeats in another way.
    DeleteBecauseWrongRepetition,
    /// `enabled` in its `lifecycle` block is false.
    DeleteBecauseEnabledFalse,
    /// The index is beyond `count`.
    DeleteBecauseCountIndex,
    /// The key is not in `for_each`.
    DeleteBecauseEachKey,
    /// The module instance is gone.
    DeleteBecauseNoModule,
    /// The address was moved to one that has no block.
    DeleteBecauseNoMoveTarget,
    /// The last run noted with the object that it is not to be destroyed.
    ForgotBecauseLifecycleDestroyInState,
    /// Its `removed` block has `destroy = false`.
    ForgotBecauseLifecycleDestroyInConfig,
    /// The data configuration holds unknown values.
    ReadBecauseConfigUnknown,
    /// The data resource depends on something that changes.
    ReadBecauseDependencyPending,
    /// A data source inside a check block.
    ReadBecauseCheckNested,
}

impl ActionReason {
    /// The name that the plan JSON uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReplaceBecauseTainted => "replace_because_tainted",
            Self::ReplaceBecauseCannotUpdate => "replace_because_cannot_update",
            Self::ReplaceByRequest => "replace_by_request",
            Self::ReplaceByTriggers => "replace_by_triggers",
            Self::DeleteBecauseNoResourceConfig => "delete_because_no_resource_config",
            Self::DeleteBecauseWrongRepetition => "delete_because_wrong_repetition",
            Self::DeleteBecauseEnabledFalse => "delete_because_enabled_false",
            Self::DeleteBecauseCountIndex => "delete_because_count_index",
            Self::DeleteBecauseEachKey => "delete_because_each_key",
            Self::DeleteBecauseNoModule => "delete_because_no_module",
            Self::DeleteBecauseNoMoveTarget => "delete_because_no_move_target",
            Self::ForgotBecauseLifecycleDestroyInState => "forgot_because_lifecycle_destroy_in_state",
            Self::ForgotBecauseLifecycleDestroyInConfig => "forgot_because_lifecycle_destroy_in_config",
            Self::ReadBecauseConfigUnknown => "read_because_config_unknown",
            Self::ReadBecauseDependencyPending => "read_because_dependency_pending",
            Self::ReadBecauseCheckNested => "read_because_check_nested",
        }
    }

    /// The reason with this name in the plan JSON.
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [ActionReason; 16] = [
            ActionReason::ReplaceBecauseTainted,
            ActionReason::ReplaceBecauseCannotUpdate,
            ActionReason::ReplaceByRequest,
            ActionReason::ReplaceByTriggers,
            ActionReason::DeleteBecauseNoResourceConfig,
            ActionReason::DeleteBecauseWrongRepetition,
            ActionReason::DeleteBecauseEnabledFalse,
            ActionReason::DeleteBecauseCountIndex,
            ActionReason::DeleteBecauseEachKey,
            ActionReason::DeleteBecauseNoModule,
            ActionReason::DeleteBecauseNoMoveTarget,
            ActionReason::ForgotBecauseLifecycleDestroyInState,
            ActionReason::ForgotBecauseLifecycleDestroyInConfig,
            ActionReason::ReadBecauseConfigUnknown,
            ActionReason::ReadBecauseDependencyPending,
            ActionReason::ReadBecauseCheckNested,
        ];
        ALL.into_iter().find(|reason| reason.name() == name)
    }
}
