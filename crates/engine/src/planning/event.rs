//! Pending work of a planning walk, and the results of its provider calls.

use std::sync::Arc;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_plan::Importing;
use groma_state::DeposedKey;

use super::invocations::{InvocationDraft, PlannedInvocations};
use super::lists::ListResult;
use super::plan_call::PlanCallResult;
use crate::provider_setup::Configuring;
use crate::read_call::ReadResult;
use crate::walk::{Outcome, Visit};
use crate::world::ModuleId;

/// An instance of a resource in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Instance {
    pub(super) module: ModuleId,
    pub(super) resource: u32,
    pub(super) position: usize,
}

/// Work that starts as soon as fewer provider calls are in flight.
pub(super) enum Task {
    /// An instance of a resource in the configuration.
    Instance(Instance),
    /// An orphan, or a deposed object of one.
    Orphan(ResourceInstance, Option<DeposedKey>),
    /// The actions before the change of an instance, which is processed after them.
    Before(Box<ManagedEvent>, Vec<InvocationDraft>),
}

/// The result of a provider call.
pub(super) enum Event {
    Managed(Box<ManagedEvent>),
    Data(Instance, Box<ReadResult>),
    List(Instance, Box<ListResult>),
    /// The instances of one provider block, or the block itself.
    Providers(Visit, Vec<Configuring>),
    Invocations(Visit, Box<PlannedInvocations>),
    Before(Box<ManagedEvent>, Box<PlannedInvocations>),
}

pub(super) struct ManagedEvent {
    pub(super) subject: ManagedSubject,
    pub(super) result: PlanCallResult,
}

/// The subject of the calls for a managed object.
pub(super) struct ManagedSubject {
    pub(super) instance: Option<Instance>,
    pub(super) address: ResourceInstance,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) provider: Arc<ProviderConfig>,
    pub(super) schema: Arc<groma_provider::Schema>,
    pub(super) create_before_destroy: bool,
    /// Whether the object has `destroy = false`.
    pub(super) is_kept: bool,
    pub(super) undecided: bool,
    /// The outcome of the instance if the calls succeed. An instance that could not be evaluated fails in any case.
    pub(super) outcome: Outcome,
    /// Set if the object is imported.
    pub(super) importing: Option<Importing>,
}
