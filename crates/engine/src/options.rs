//! What a person asks of a plan.

use std::sync::Arc;

use groma_address::{InstanceKey, ModuleInstance, Name, ResourceInstance, Target};
use groma_config::variables::Origin;
use groma_diagnostics::Span;
use groma_plan::Mode;
use groma_provider::ClientCapabilities;
use groma_value::Value;
use indexmap::IndexMap;

use crate::client::capabilities;
use crate::recovery::Recovery;

/// Whether objects are read before they are planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// Each is read.
    #[default]
    Read,
    /// What the state says is taken for true (PL-63).
    Trust,
}

/// The value of an input variable of the root module.
#[derive(Clone, Debug)]
pub struct Input {
    /// The value as given, converted or not.
    pub value: Value,
    /// Where it is written, if that is in a file.
    pub span: Span,
    /// What it comes from, where that is known.
    pub origin: Option<Origin>,
}

/// What becomes of import blocks whose resource has no block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingResources {
    /// They are errors.
    #[default]
    Refused,
    /// A block is written from the object that is found.
    Generated,
}

/// What becomes of objects that list blocks find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FoundObjects {
    /// They are told.
    #[default]
    Told,
    /// A configuration is written for each.
    Written,
}

/// An action, or one instance of it, that a person asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvokeTarget {
    /// The module instance it belongs to.
    pub module: ModuleInstance,
    /// The action type.
    pub type_name: Name,
    /// The name of the block.
    pub name: Name,
    /// The instance; all without one.
    pub key: Option<InstanceKey>,
}

/// What becomes of what cannot be planned yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deferral {
    /// It is an error.
    #[default]
    Refused,
    /// It is left to a later run (PL-29, PL-45).
    Allowed,
}

impl Deferral {
    /// What the engine can handle of a provider's answers in such a plan.
    pub(crate) fn capabilities(self) -> ClientCapabilities {
        ClientCapabilities { deferral_allowed: self == Self::Allowed, ..capabilities() }
    }
}

/// The options of a plan.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// What kind of plan.
    pub mode: Mode,
    /// Whether objects are read first.
    pub refresh: Refresh,
    /// Instances to replace although nothing else says so (PL-60).
    pub replace: Vec<ResourceInstance>,
    /// What to look at, with what it depends on; everything when empty (PL-64).
    pub targets: Vec<Target>,
    /// What not to look at, nor at what depends on it; nothing when empty. Not together with targets.
    pub excludes: Vec<Target>,
    /// One object to take over, with its id, in place of import blocks: for plans of which only the state is of interest.
    pub import: Option<(ResourceInstance, String)>,
    /// Whether resources are written that import blocks name and the configuration does not have.
    pub missing: MissingResources,
    /// The actions to invoke, and nothing else to do: a block means all its instances.
    pub invoke: Option<InvokeTarget>,
    /// Values given for the root module's variables; those with a default may be missing.
    pub inputs: IndexMap<Name, Input>,
    /// What becomes of objects that list blocks find.
    pub found: FoundObjects,
    /// What becomes of what cannot be planned yet.
    pub deferral: Deferral,
    /// What an interrupted run left under way: asked after before anything is planned. Only for plans that are applied at
    /// once, since asking can make objects.
    pub recovery: Option<Arc<Recovery>>,
}
