//! Results of provider calls in an apply.

use std::sync::Arc;
use std::time::{Duration, Instant};

use groma_diagnostics::Diagnostics;
use groma_plan::Invocation;
use groma_state::{DeposedKey, ObjectRecord};
use groma_value::Value;

use super::apply_call::ApplyCallResult;
use crate::hooks::Operation;
use crate::provider_setup::Configuring;
use crate::read_call::ReadResult;
use crate::world::ModuleId;

/// The result of a provider call.
pub(super) enum Event {
    Change(Box<ChangeEvent>),
    Data(u32, Box<ReadResult>),
    Providers(Vec<Configuring>),
    Provisioned(Box<Provisioned>),
    Opened(Box<OpenedInstances>),
    Invoked(Arc<Invocation>, Diagnostics),
}

pub(super) struct ChangeEvent {
    pub(super) change: u32,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) operation: Operation,
    pub(super) before: Option<Arc<ObjectRecord>>,
    pub(super) started: Instant,
    pub(super) elapsed: Duration,
    pub(super) done: ApplyCallResult,
}

/// The result of the provisioners of a new object.
pub(super) struct Provisioned {
    pub(super) change: u32,
    pub(super) started: Instant,
    pub(super) value: Value,
    pub(super) diagnostics: Diagnostics,
}

/// The opened instances of an ephemeral resource, by position.
pub(super) struct OpenedInstances {
    pub(super) module: ModuleId,
    pub(super) resource: u32,
    pub(super) reads: Vec<(usize, ReadResult)>,
}
