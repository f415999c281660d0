//! Planning options.

use std::sync::Arc;

use groma_address::{InstanceKey, ModuleInstance, Name, ResourceInstance, Target};
use groma_config::variables::Origin;
use groma_diagnostics::Span;
use groma_plan::Mode;
use groma_provider::ClientCapabilities;
use groma_value::Value;
use indexmap::IndexMap;

use crate::call_target::capabilities;
use crate::recovery::Recovery;

/// Whether objects are read before they are planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// Every object is read.
    #[default]
    Read,
    /// The stored state is used as it is (PL-63).
    Trust,
}

/// The value of an input variable of the root module.
#[derive(Clone, Debug)]
pub struct Input {
    /// The value as given, converted or not.
    pub value: Value,
    /// The location of the value, if it was read from a file.
    pub span: Span,
    /// The source of the value, if it is known.
    pub origin: Option<Origin>,
}

/// The treatment of import blocks whose resource has no block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingResources {
    /// Missing resource blocks are errors.
    #[default]
    Refused,
    /// A block is generated from the imported object: `-generate-config-out`.
    Generated,
}

/// The treatment of objects that list blocks find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FoundObjects {
    /// Found objects are reported.
    #[default]
    Reported,
    /// A resource block and an import block are generated for each.
    Generated,
}

/// The action, or one instance of it, that `-invoke` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvokeTarget {
    /// The module instance it belongs to.
    pub module: ModuleInstance,
    /// The action type's name.
    pub type_name: Name,
    /// The name of the block.
    pub name: Name,
    /// The instance; all without one.
    pub key: Option<InstanceKey>,
}

/// The treatment of changes that cannot be planned yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deferral {
    /// Unknown values that prevent planning are errors.
    #[default]
    Refused,
    /// Changes that cannot be planned yet are deferred to a later run (PL-29, PL-45).
    Allowed,
}

impl Deferral {
    /// Returns the client capabilities to announce to providers in such a plan.
    pub(crate) fn capabilities(self) -> ClientCapabilities {
        ClientCapabilities { deferral_allowed: self == Self::Allowed, ..capabilities() }
    }
}

/// The options of a plan.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// The kind of plan.
    pub mode: Mode,
    /// Whether objects are read first.
    pub refresh: Refresh,
    /// Instances to replace regardless of their configuration (PL-60).
    pub replace: Vec<ResourceInstance>,
    /// The targets; their dependencies are included. Empty for a complete plan (PL-64).
    pub targets: Vec<Target>,
    /// The excluded addresses; their dependents are excluded too. Mutually exclusive with targets.
    pub excludes: Vec<Target>,
    /// One object to import, with its identifier, instead of import blocks: for plans of which only the state is used.
    pub import: Option<(ResourceInstance, String)>,
    /// Whether resources are written that import blocks name and the configuration does not have.
    pub missing: MissingResources,
    /// The actions to invoke, and nothing else to do: a block means all its instances.
    pub invoke: Option<InvokeTarget>,
    /// Values given for the root module's variables; those with a default may be missing.
    pub inputs: IndexMap<Name, Input>,
    /// The treatment of objects that list blocks find.
    pub found: FoundObjects,
    /// The treatment of changes that cannot be planned yet.
    pub deferral: Deferral,
    /// The calls that an interrupted run left in flight. Their results are requested before planning. Only for plans that are applied at
    /// once, because a recovered call may create objects.
    pub recovery: Option<Arc<Recovery>>,
}
