//! What is applied, and with what.

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_plan::{Action, Invocation, Mode, OutputChange, ResourceChange};

use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::templates::Templates;
use crate::world::{ModuleId, World};

/// The read-only inputs of an apply: the plan's changes, invocations and outputs, and the prepared configuration.
///
/// Changes and invocations are meant by their positions in the plan, as the steps of the execution graph mean them. Where
/// the instance of a change is in the world is looked up once. Nothing here changes while the plan is applied: what
/// becomes of the changes is in the recording, their values are in the world.
pub(super) struct Inputs<'a> {
    session: &'a Session,
    prepared: &'a Prepared,
    mode: Mode,
    changes: Vec<ResourceChange>,
    /// None for changes whose instance the configuration no longer has.
    instances: Vec<Option<InstanceId>>,
    invocations: Vec<Arc<Invocation>>,
    outputs: Vec<OutputChange>,
    removed_data: Vec<ResourceInstance>,
    /// Provider configurations that something is done with.
    acting: HashSet<ProviderConfig>,
    /// Provider blocks that ephemeral resources need, with all their instances.
    opening: HashSet<ProviderConfig>,
}

/// An instance of a resource of a module instance, by number and position.
pub(super) type InstanceId = (ModuleId, u32, usize);

/// The parts of a plan that are applied.
pub(super) struct Planned {
    pub(super) mode: Mode,
    pub(super) changes: Vec<ResourceChange>,
    pub(super) invocations: Vec<Invocation>,
    pub(super) outputs: Vec<OutputChange>,
    /// Data sources that leave the state with what is destroyed.
    pub(super) removed_data: Vec<ResourceInstance>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(session: &'a Session, prepared: &'a Prepared, world: &World, planned: Planned) -> Self {
        let Planned { mode, changes, invocations, outputs, removed_data } = planned;
        let opening = prepared.ephemeral_providers();
        let acting = acting_providers(&changes, &invocations, &opening);
        Self {
            session,
            prepared,
            mode,
            // The lookup by address walks the module path, so it is done once and not in every step.
            instances: changes.iter().map(|change| world.locate(&change.address)).collect(),
            changes,
            // Calls own their invocation while they are in flight, hence the reference count.
            invocations: invocations.into_iter().map(Arc::new).collect(),
            outputs,
            removed_data,
            acting,
            opening,
        }
    }

    pub(super) fn session(&self) -> &'a Session {
        self.session
    }

    pub(super) fn templates(&self) -> &'a Templates {
        &self.prepared.templates
    }

    pub(super) fn graph(&self) -> &'a Arc<ConfigGraph> {
        &self.prepared.graph
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) fn changes(&self) -> &[ResourceChange] {
        &self.changes
    }

    pub(super) fn change(&self, change: u32) -> &ResourceChange {
        &self.changes[change as usize]
    }

    /// Returns the module instance, resource and position of a change's instance.
    pub(super) fn instance(&self, change: u32) -> Option<InstanceId> {
        self.instances.get(change as usize).copied().flatten()
    }

    /// The node of the resource of a change, if the configuration has it.
    pub(super) fn node(&self, world: &World, change: u32) -> Option<(ModuleIndex, NodeIndex)> {
        let (module, resource, _) = self.instance(change)?;
        Some((world.module(module).of, world.static_module(module).resource(resource as usize)))
    }

    pub(super) fn invocation(&self, invocation: u32) -> Option<&Arc<Invocation>> {
        self.invocations.get(invocation as usize)
    }

    pub(super) fn outputs(&self) -> &[OutputChange] {
        &self.outputs
    }

    /// Data sources that leave the state with what is destroyed.
    pub(super) fn removed_data(&self) -> &[ResourceInstance] {
        &self.removed_data
    }

    /// The provider configurations that something is done with.
    pub(super) fn acting_providers(&self) -> &HashSet<ProviderConfig> {
        &self.acting
    }

    /// Whether ephemeral resources need instances of a provider block.
    pub(super) fn opens_through(&self, block: &ProviderConfig) -> bool {
        self.opening.contains(block)
    }

    /// The changes, which are of no use any more and take time to release.
    pub(super) fn into_spent(self) -> Vec<ResourceChange> {
        self.changes
    }
}

fn acting_providers(
    changes: &[ResourceChange],
    invocations: &[Invocation],
    opening: &HashSet<ProviderConfig>,
) -> HashSet<ProviderConfig> {
    let mut acting: Vec<&ProviderConfig> = Vec::new();
    for change in changes.iter().filter(|change| change.action != Action::NoOp) {
        // Most changes have the provider of the one before.
        if acting.last().is_none_or(|last| **last != *change.provider) {
            acting.push(&change.provider);
        }
    }
    let invoked = invocations.iter().map(|invocation| &invocation.provider);
    acting.into_iter().chain(opening).chain(invoked).cloned().collect()
}
