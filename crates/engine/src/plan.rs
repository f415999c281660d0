//! What a run will do and why: the plan, as views show it and as apply carries it out.

use std::sync::Arc;

use groma_address::{AbsResource, Mode as ResourceMode, Name, ProviderConfig, ResourceInstance, Target};
use groma_diagnostics::Diagnostic;
use groma_provider::Schema;
use groma_state::{CheckResult, DeposedKey, State};
use groma_value::{Path, Value};

pub use crate::deferral::{DeferralReason, DeferredChange, DeferredInvocation, Source, Which};
use crate::execution::ExecutionGraph;
use crate::invocation::{ActionEvent, Invocation};
use crate::world::Expansions;

/// What kind of plan was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Make the objects match the configuration.
    #[default]
    Normal,
    /// Delete every object (PL-62).
    Destroy,
    /// Only take in what changed outside (PL-61).
    RefreshOnly,
}

/// What happens to one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Nothing (PL-08).
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

/// Why an action was chosen, where that is not plain from the configuration.
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
    /// Its block says so.
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

/// The change of one object.
#[derive(Clone, Debug)]
pub struct ResourceChange {
    /// The instance.
    pub address: ResourceInstance,
    /// Where it was bound before a move.
    pub previous_address: Option<Box<ResourceInstance>>,
    /// Set when the object is a deposed one of the instance.
    pub deposed: Option<DeposedKey>,
    /// The provider configuration that manages it.
    pub provider: Arc<ProviderConfig>,
    /// The schema of its type; both values conform to it.
    pub schema: Arc<Schema>,
    /// What happens.
    pub action: Action,
    /// Why, where that needs saying.
    pub reason: Option<ActionReason>,
    /// The object before: null if there is none. Sensitive parts are marked.
    pub before: Value,
    /// The object after: null if there will be none. What apply will know is unknown; sensitive parts are marked.
    pub after: Value,
    /// The changed paths that forced a replacement.
    pub replace_paths: Vec<Path>,
    /// The provider's bytes for apply (PL-44).
    pub planned_private: Arc<[u8]>,
    /// What will name the object in its service, as the provider plans it; it may be unknown before there is an object (LC-31). In what
    /// has changed outside: what named an object that is gone.
    pub planned_identity: Option<Value>,
    /// Whether a replacement creates first; goes into the state for the destroy to come (PL-11).
    pub create_before_destroy: bool,
    /// Set when the object is taken over from outside (PL-26).
    pub importing: Option<Box<Importing>>,
}

/// How an object that is taken over was named.
#[derive(Clone, Debug, PartialEq)]
pub struct Importing {
    /// By an id, or by an identity.
    pub target: groma_provider::ImportTarget,
    /// The text of the block that was written for it, where it had none.
    pub generated: Option<String>,
}

impl Importing {
    /// Where it was named by an identity: the identity that the provider found, which has what the configuration may leave out.
    pub(crate) fn complete(&mut self, found: Option<&Value>) {
        if let (groma_provider::ImportTarget::Identity(identity), Some(found)) = (&mut self.target, found) {
            identity.clone_from(found);
        }
    }

    /// The id, if it was named by one.
    pub fn id(&self) -> Option<&str> {
        match &self.target {
            groma_provider::ImportTarget::Id(id) => Some(id),
            groma_provider::ImportTarget::Identity(_) => None,
        }
    }
}

/// A resource block written for an import.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// How the object was named, unless by its identity.
    pub id: Option<String>,
    /// The block.
    pub text: String,
}

/// The change of one output value of the root module.
#[derive(Clone, Debug)]
pub struct OutputChange {
    /// Its name.
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

/// A value of an input variable of the root module, as the plan keeps it.
#[derive(Clone, Debug)]
pub struct PlannedVariable {
    /// Its name.
    pub name: Name,
    /// What was given, before conversion, or the default. Ephemeral ones are kept out of the plan.
    pub value: Value,
}

/// An attribute of a resource that took part in the decision for some change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelevantAttribute {
    /// The resource.
    pub resource: AbsResource,
    /// The instance key is part of the path when it is known, as in the plan JSON.
    pub path: Path,
}

/// What a run will do.
#[derive(Debug)]
pub struct Plan {
    /// What kind of plan was asked for.
    pub mode: Mode,
    /// Every object that the plan looked at, `NoOp` included, by address, deposed ones after the current one.
    pub changes: Vec<ResourceChange>,
    /// What is left to a later run.
    pub deferred: Vec<DeferredChange>,
    /// What changed outside since the last run.
    pub drift: Vec<ResourceChange>,
    /// Data sources that go from the state when everything else is done; none unless the plan destroys. Until then they stay:
    /// providers are configured with them.
    pub parting: Vec<ResourceInstance>,
    /// Outputs of the root module by name.
    pub outputs: Vec<OutputChange>,
    /// The state after moves and refresh: where apply starts.
    pub prior_state: State,
    /// The values of the root module's variables.
    pub variables: Vec<PlannedVariable>,
    /// `-target` (PL-64).
    pub targets: Vec<Target>,
    /// `-exclude`.
    pub excludes: Vec<Target>,
    /// `-replace` (PL-60).
    pub replace: Vec<ResourceInstance>,
    /// Results of conditions so far.
    pub checks: Vec<CheckResult>,
    /// What the changes were decided on.
    pub relevant_attributes: Vec<RelevantAttribute>,
    /// Blocks written for imports, those of objects that cannot be planned included. Not part of a saved plan.
    pub generated: Vec<Generated>,
    /// Actions to be invoked, in the order in which blocks list them.
    pub invocations: Vec<Invocation>,
    /// Actions that are left to a later run.
    pub deferred_invocations: Vec<DeferredInvocation>,
    /// When the plan was made, RFC 3339 in UTC; `plantimestamp()`.
    pub timestamp: String,
    /// Whether planning ended with errors; such a plan can be shown, not applied.
    pub errored: bool,
    /// The actions with their order.
    pub execution: ExecutionGraph,
    /// The instances of every module and resource.
    pub expansions: Expansions,
}

impl Plan {
    /// Why it cannot be applied, where planning had failed. Its prior state has what was moved and taken over while planning, so it is not
    /// to be kept either.
    pub fn refusal(&self) -> Option<Diagnostic> {
        let detail = "This plan was saved although planning had failed, so that it could be looked at. It cannot be applied: correct \
                      what was wrong and plan again.";
        self.errored.then(|| Diagnostic::error("Cannot apply incomplete plan", detail))
    }

    /// Whether apply would do anything: an action, an output, or, with `RefreshOnly`, something to take in.
    pub fn is_applyable(&self) -> bool {
        if self.errored {
            return false;
        }
        let acts = self.changes.iter().any(|change| {
            change.action != Action::NoOp || change.previous_address.is_some() || change.importing.is_some()
        });
        let tells = self.outputs.iter().any(|output| output.action != Action::NoOp);
        acts || tells || !self.invocations.is_empty() || (self.mode == Mode::RefreshOnly && self.takes_in())
    }

    /// Whether the state gets to know something. What is read of data sources is always new, as it is to Terraform.
    fn takes_in(&self) -> bool {
        !self.drift.is_empty()
            || self.prior_state.resources().any(|(address, _)| address.resource.mode == ResourceMode::Data)
    }

    /// Whether everything is planned; a plan for chosen targets is partial, and so is one that leaves something to a later run.
    pub fn is_complete(&self) -> bool {
        !self.errored && !self.is_partial() && !self.is_deferring()
    }

    /// Whether it leaves something to a later run.
    pub fn is_deferring(&self) -> bool {
        !self.deferred.is_empty() || !self.deferred_invocations.is_empty()
    }

    /// Whether targets were chosen, or something was excluded.
    pub fn is_partial(&self) -> bool {
        !self.targets.is_empty() || !self.excludes.is_empty()
    }

    /// Numbers of objects to add, change and destroy, as the summary line counts them.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { invoke: self.invocations.len(), ..Counts::default() };
        for change in &self.changes {
            counts.import += usize::from(change.importing.is_some());
            match change.action {
                Action::Create => counts.add += 1,
                Action::Update => counts.change += 1,
                Action::Delete => counts.destroy += 1,
                Action::DeleteThenCreate | Action::CreateThenDelete => {
                    counts.add += 1;
                    counts.destroy += 1;
                }
                Action::Forget => counts.forget += 1,
                Action::ForgetThenCreate => {
                    counts.add += 1;
                    counts.forget += 1;
                }
                Action::NoOp | Action::Read => {}
            }
        }
        counts
    }
}

/// Numbers for the summary line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects that come into being.
    pub add: usize,
    /// Objects that change in place.
    pub change: usize,
    /// Objects that go.
    pub destroy: usize,
    /// Objects that are no longer managed.
    pub forget: usize,
    /// Objects that are taken over.
    pub import: usize,
    /// Actions that are invoked.
    pub invoke: usize,
}
