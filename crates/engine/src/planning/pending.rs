//! Data sources that are read during apply because of planned changes in their dependencies (PL-07).

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use groma_address::{AbsResource, ConfigResource, InstanceKey, Mode as ResourceMode};
use groma_config::Lifecycle;
use groma_hcl::{Expression, Traversal};
use groma_lang::{Binding, for_each_traversal};
use groma_plan::Mode;
use groma_state::State;

use super::event::Instance;
use super::inputs::Inputs;
use crate::config_graph::NodeIndex;
use crate::world::{Expansion, ModuleId, World};

/// The planned changes that data resources wait for.
///
/// Owns two caches: whether a change is planned behind a value or a called module, which stays so once the node was visited,
/// and where the state has objects, once something asks. Both belong to one walk.
///
/// It knows no single change: whether a resource is going to change is noted with the resource in the world.
#[derive(Default)]
pub(super) struct PendingChanges {
    behind: HashMap<(ModuleId, NodeIndex), bool>,
    recorded: OnceCell<RecordedResources>,
}

impl PendingChanges {
    /// Whether something that a data resource depends on is going to change (PL-07): what `depends_on` names, its own or
    /// that of a module around it, what its conditions mention, and managed resources that the rest of its block mentions directly.
    pub(super) fn is_dependency_pending(
        &mut self,
        inputs: &Inputs<'_>,
        world: &World,
        state: &State,
        instance: Instance,
    ) -> bool {
        Query { inputs, world, state, pending: self }.is_dependency_pending(instance)
    }
}

/// One question, with everything that the answer depends on.
struct Query<'p> {
    inputs: &'p Inputs<'p>,
    world: &'p World,
    state: &'p State,
    pending: &'p mut PendingChanges,
}

impl Query<'_> {
    fn is_dependency_pending(&mut self, instance: Instance) -> bool {
        let module = instance.module;
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((_, resource)) = config.resources.get_index(instance.resource as usize) else { return false };
        let mut direct = false;
        let mut look = |expression: &Expression| {
            for_each_traversal(expression, &mut |traversal| {
                direct = direct || self.managed_pending(module, config.binding(traversal));
            });
        };
        resource.body.for_each_expression(&mut look);
        let repeats = [&resource.count, &resource.for_each, &resource.lifecycle.enabled];
        repeats.into_iter().flatten().for_each(&mut look);
        direct
            || self.any_pending(module, &resource.depends_on)
            || self.condition_pending(module, &resource.lifecycle)
            || self.call_pending(module)
    }

    /// Whether a condition has to wait for apply, because a planned change may affect the values that it refers to, even indirectly.
    fn condition_pending(&mut self, module: ModuleId, lifecycle: &Lifecycle) -> bool {
        let mut pending = false;
        let mut look = |traversal: &Traversal| {
            let binding = self.world.static_module(module).config.binding(traversal);
            pending = pending || self.managed_pending(module, binding) || self.named_behind(module, traversal);
        };
        for condition in lifecycle.preconditions.iter().chain(&lifecycle.postconditions) {
            for_each_traversal(&condition.condition, &mut look);
            for_each_traversal(&condition.error_message, &mut look);
        }
        pending
    }

    fn call_pending(&mut self, mut module: ModuleId) -> bool {
        while let (Some(caller), Some(node_ref)) =
            (self.world.module(module).caller, self.world.static_module(module).caller)
        {
            let config = Arc::clone(&self.world.static_module(caller).config);
            if let Some((_, call)) = config.calls.get_index(node_ref.call as usize)
                && self.any_pending(caller, &call.depends_on)
            {
                return true;
            }
            module = caller;
        }
        false
    }

    fn any_pending(&mut self, module: ModuleId, names: &[Traversal]) -> bool {
        names.iter().any(|name| match self.world.static_module(module).config.binding(name) {
            Some(Binding::Variable(_) | Binding::Local(_) | Binding::Module(_)) => self.named_behind(module, name),
            resource => self.managed_pending(module, resource),
        })
    }

    fn named_behind(&mut self, module: ModuleId, name: &Traversal) -> bool {
        let naming = self.inputs.graph().module(self.world.module(module).of);
        self.inputs.graph().depended(naming, name).is_some_and(|node| self.pending_behind(module, node))
    }

    /// Whether a managed resource that a node depends on, directly or indirectly, is going to change.
    fn pending_behind(&mut self, module: ModuleId, node: NodeIndex) -> bool {
        if let Some(known) = self.pending.behind.get(&(module, node)) {
            return *known;
        }
        let graph = self.inputs.graph();
        let behind = graph.ancestors().of(self.world.module(module).of, node);
        let pending =
            behind.iter().filter(|resource| resource.resource.mode == ResourceMode::Managed).any(|resource| {
                let found = graph.find(&resource.module).and_then(|index| {
                    let at = graph.module(index).config.resources.get_index_of(&resource.resource)?;
                    Some((index, u32::try_from(at).ok()?))
                });
                found.is_some_and(|(index, at)| {
                    let seen = self.world.seen_from(module, index);
                    seen.iter().any(|id| self.is_pending(*id, at)) || self.is_in_orphaned_modules(module, resource)
                })
            });
        self.pending.behind.insert((module, node), pending);
        pending
    }

    fn managed_pending(&self, module: ModuleId, binding: Option<Binding>) -> bool {
        let Some(Binding::Resource(at) | Binding::PrefixedResource(at)) = binding else { return false };
        let declared = self.world.static_module(module).config.resources.get_index(at as usize);
        let is_managed = declared.is_some_and(|(address, _)| address.mode == ResourceMode::Managed);
        is_managed && self.is_pending(module, at)
    }

    fn is_pending(&self, module: ModuleId, resource: u32) -> bool {
        let data = self.world.module(module).resources.get(resource as usize);
        data.is_some_and(|data| data.pending)
    }

    /// Whether objects of a resource go with module instances that are not there any more, below a module instance.
    fn is_in_orphaned_modules(&self, below: ModuleId, resource: &ConfigResource) -> bool {
        if self.inputs.mode() != Mode::Normal {
            return false;
        }
        let around = self.world.module(below).address.steps();
        let recorded = self.pending.recorded.get_or_init(|| RecordedResources::of(self.state));
        recorded.instances_of(resource).iter().any(|node_ref| {
            node_ref.module.steps().starts_with(around)
                && self.world.find(&node_ref.module).is_none()
                && loses_objects(self.inputs, self.state, node_ref, &Expansion::Absent)
        })
    }
}

/// Whether objects of a resource go, because there is no instance for them any more.
pub(super) fn loses_instances(
    inputs: &Inputs<'_>,
    world: &World,
    state: &State,
    module: ModuleId,
    resource: u32,
) -> bool {
    let (config, data) = (&world.static_module(module).config, world.module(module));
    let Some((address, _)) = config.resources.get_index(resource as usize) else { return false };
    let expansion = &data.resources[resource as usize].expansion;
    let is_expanded = !matches!(expansion, Expansion::Pending | Expansion::Unknown);
    inputs.mode() == Mode::Normal
        && address.mode == ResourceMode::Managed
        && is_expanded
        && loses_objects(inputs, state, &address.absolute(data.address.clone()), expansion)
}

/// Whether an object goes for which `expansion` has no instance.
fn loses_objects(inputs: &Inputs<'_>, state: &State, resource: &AbsResource, expansion: &Expansion) -> bool {
    let is_included = |key: &InstanceKey| {
        let targets = inputs.targets();
        targets.is_none_or(|targets| targets.includes_orphan(inputs.graph(), &resource.instance(key.clone())))
    };
    state.resource(resource).is_some_and(|entry| {
        entry
            .instances()
            .any(|(key, record)| record.current.is_some() && expansion.position(key).is_none() && is_included(key))
    })
}

/// The resources that the state has, by their addresses in the configuration.
struct RecordedResources(HashMap<ConfigResource, Vec<AbsResource>>);

impl RecordedResources {
    fn of(state: &State) -> Self {
        let mut found: HashMap<ConfigResource, Vec<AbsResource>> = HashMap::new();
        for (resource, _) in state.resources() {
            found.entry(resource.config_resource()).or_default().push(resource.clone());
        }
        Self(found)
    }

    /// Where a resource is, in the instances of its module.
    fn instances_of(&self, resource: &ConfigResource) -> &[AbsResource] {
        self.0.get(resource).map(Vec::as_slice).unwrap_or_default()
    }
}
