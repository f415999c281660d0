//! The users of an object by the configuration: everything that refers to it, however indirectly.

use std::collections::HashMap;

use groma_address::{ConfigResource, ModuleInstance, ModuleStep, ResourceInstance};

use super::{Builder, NONE, is_of_check};
use crate::config_graph::{ConfigGraph, Dependent, ModuleIndex, NodeIndex, NodeKind, narrow};
use crate::walk::Visit;
use crate::world::{ModuleId, World};

/// For nodes, the step after which all their users are created, updated and read; none where nothing is done to any.
#[derive(Debug, Default)]
pub(super) struct Users {
    done: HashMap<Visit, u32>,
}

/// The nodes whose dependents are the users of an object: its own, or those of the module that its instance was in.
pub(super) fn used_nodes(builder: &Builder<'_>, address: &ResourceInstance) -> Vec<Visit> {
    let world = builder.inputs.world;
    // The usual case: the block still exists, so its node has all users.
    if let Some((module, resource)) = world.locate_block(address) {
        return vec![Visit { module, node: world.static_module(module).resource(resource as usize) }];
    }
    let resource = address.config_resource();
    let Some((gone, steps)) = gone_module(world, address) else { return Vec::new() };
    let Some(step) = steps.first() else { return Vec::new() };
    let module = world.static_module(gone);
    let Some(call) = module.config.calls.get_index_of(&step.name) else { return Vec::new() };
    // The module instance is gone, so only what names the module as a whole can still use the object: by an output that the
    // object is behind, or by a `depends_on`.
    let outputs = module.children[call].map_or(0, |child| world.graph().module(child).config.outputs.len());
    let outputs = (0..outputs).filter_map(|output| module.call_output(call, output));
    let index = world.module(gone).of;
    let outputs = outputs.filter(|node| leads_to(world.graph(), index, *node, &resource));
    outputs.chain([module.call_end(call)]).map(|node| Visit { module: gone, node }).collect()
}

/// The step after which everything that depends on a node is created, updated and read.
pub(super) fn users_done(builder: &mut Builder<'_>, users: &mut Users, from: Visit) -> u32 {
    let mut open = vec![(from, Progress::Found)];
    while let Some((visit, progress)) = open.pop() {
        // Users can be reached on several ways.
        if users.done.contains_key(&visit) {
            continue;
        }
        let dependents = dependents(builder.inputs.world, visit);
        match progress {
            Progress::Found => {
                // Visited again after all dependents, instead of recursing, since chains of references can be long.
                open.push((visit, Progress::DependentsDone));
                open.extend(dependents.into_iter().map(|dependent| (dependent, Progress::Found)));
            }
            Progress::DependentsDone => {
                let mut steps: Vec<u32> = Vec::new();
                for dependent in dependents {
                    steps.extend(object_step(builder, dependent));
                    steps.extend(users.done.get(&dependent).filter(|step| **step != NONE));
                }
                // Shared steps occur once for each way to them.
                steps.sort_unstable();
                steps.dedup();
                let step = builder.join(&steps);
                users.done.insert(visit, step);
            }
        }
    }
    users.done.get(&from).copied().unwrap_or(NONE)
}

/// The step after which all instances of a resource are done, if the run changes one. Data sources of check blocks are no users:
/// they are read at the end.
fn object_step(builder: &Builder<'_>, visit: Visit) -> Option<u32> {
    let module = builder.inputs.world.static_module(visit.module);
    let kind = module.kind(visit.node);
    let is_user = matches!(kind, NodeKind::Resource(_)) && !is_of_check(module, kind);
    Some(builder.ends[visit.module.at()][visit.node.at()]).filter(|step| is_user && *step != NONE)
}

enum Progress {
    Found,
    DependentsDone,
}

/// The innermost module instance around an address that the configuration still has, and the steps from there.
fn gone_module<'a>(world: &World, address: &'a ResourceInstance) -> Option<(ModuleId, &'a [ModuleStep])> {
    let steps = address.module.steps();
    let mut module = ModuleId::ROOT;
    for (depth, step) in steps.iter().enumerate() {
        let call = world.static_module(module).config.calls.get_index_of(&step.name)?;
        let call = &world.module(module).calls[call];
        match call.expansion.position(&step.key).and_then(|position| call.instances.get(position)) {
            Some(id) => module = *id,
            None => return Some((module, &steps[depth..])),
        }
    }
    None
}

fn leads_to(graph: &ConfigGraph, module: ModuleIndex, node: NodeIndex, resource: &ConfigResource) -> bool {
    graph.ancestors().of(module, node).iter().any(|ancestor| ancestor == resource)
}

/// The nodes that wait for `visit`, in all instances.
fn dependents(world: &World, visit: Visit) -> Vec<Visit> {
    let module = world.static_module(visit.module);
    let kind = module.kind(visit.node);
    let mut found = Vec::new();
    for dependent in world.graph().dependents(world.module(visit.module).of, visit.node) {
        match *dependent {
            Dependent::Here(node) => found.push(Visit { module: visit.module, node }),
            Dependent::Input { call, node } => {
                let instances = &world.module(visit.module).calls[call as usize].instances;
                found.extend(instances.iter().map(|id| Visit { module: *id, node }));
            }
            Dependent::Below(module, node) => {
                found.extend(world.instances_of(module).iter().map(|id| Visit { module: *id, node }));
            }
        }
    }
    if let (NodeKind::Output(output), Some(caller), Some(node_ref)) =
        (kind, world.module(visit.module).caller, module.caller)
        && let Some(node) = world.static_module(caller).call_output(node_ref.call as usize, output as usize)
    {
        found.push(Visit { module: caller, node });
    }
    if let NodeKind::Call(call) = kind {
        for id in &world.module(visit.module).calls[call as usize].instances {
            let nodes = narrow(world.static_module(*id).len());
            found.extend((0..nodes).map(|node| Visit { module: *id, node: NodeIndex(node) }));
        }
    }
    found
}

/// The instances of a resource that an object depends on by its record.
///
/// A record names resources, not instances of them. Between objects of one module it means those of the same module instance:
/// references inside a module never lead to another instance of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dependency<'a> {
    resource: &'a ConfigResource,
    within: Option<&'a ModuleInstance>,
}

impl<'a> Dependency<'a> {
    /// The instances that the record of the object at `dependent`, an instance of `own`, means by `resource`.
    pub(super) fn of(dependent: &'a ResourceInstance, own: &ConfigResource, resource: &'a ConfigResource) -> Self {
        let within = (own.module == resource.module).then_some(&dependent.module);
        Self { resource, within }
    }
}

/// Steps that change or destroy objects, by what others call these in their records.
#[derive(Debug, Default)]
pub(super) struct Targets<'a> {
    steps: HashMap<Dependency<'a>, Vec<u32>>,
    gates: HashMap<Dependency<'a>, u32>,
}

impl<'a> Targets<'a> {
    /// Adds the step of the object at `address`, which is an instance of `resource`.
    pub(super) fn add(&mut self, resource: &'a ConfigResource, address: &'a ResourceInstance, step: u32) {
        for within in [None, Some(&address.module)] {
            self.steps.entry(Dependency { resource, within }).or_default().push(step);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// One step for all those that `dependency` means: that step itself where it is only one, or what `join` makes of them.
    pub(super) fn gate(&mut self, dependency: Dependency<'a>, join: impl FnOnce(&[u32]) -> u32) -> Option<u32> {
        match self.steps.get(&dependency)?.as_slice() {
            [only] => Some(*only),
            many => Some(*self.gates.entry(dependency).or_insert_with(|| join(many))),
        }
    }
}
