//! The planned actions and their reasons.

use crate::invocation::ActionEvent;

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
