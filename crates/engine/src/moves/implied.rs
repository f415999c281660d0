//! Moves that nobody has written: to and from the first of what `count` makes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use groma_address::{AbsResource, InstanceKey, ModuleInstance, Name, Resource, ResourceInstance, Target};
use groma_config::Product;
use groma_hcl::Expression;
use groma_state::State;

use super::Moves;
use super::statement::Statement;
use crate::config_graph::{ConfigGraph, NodeKind};

/// The key that the one instance had, and the one that it has now; none where there is no one instance.
fn keys(count: Option<&Expression>, for_each: Option<&Expression>) -> Option<(InstanceKey, InstanceKey)> {
    match (count, for_each) {
        (Some(_), _) => Some((InstanceKey::None, InstanceKey::Int(0))),
        (None, None) => Some((InstanceKey::Int(0), InstanceKey::None)),
        (None, Some(_)) => None,
    }
}

/// A module call that gained or lost `count` keeps its one instance, where it follows OpenTofu.
pub(super) fn modules(graph: &ConfigGraph, state: &mut State, moves: &mut Moves, statements: &[Statement]) {
    let calls: Vec<Statement> = calls(graph).collect();
    if calls.is_empty() {
        return;
    }
    let mut bound = Bound::of(state);
    for call in &calls {
        let depth = call.module.steps().len() + 1;
        let instance =
            |address: &ResourceInstance| ModuleInstance::from_steps(address.module.steps().iter().take(depth).cloned());
        let moved = bound.moved_by(call, state);
        let taken: HashSet<ModuleInstance> = bound.instances_of_call(call, state);
        let mut blocked = Vec::new();
        // Many objects are in few instances.
        let mut written: HashMap<ModuleInstance, bool> = HashMap::new();
        for (from, to) in moved {
            let is_written = *written
                .entry(instance(&from))
                .or_insert_with_key(|module| statements.iter().any(|statement| statement.names_module(module)));
            if !is_written && !taken.contains(&instance(&to)) {
                bound.add(&to.abs_resource());
                moves.rename(state, from, to, &mut blocked);
            }
        }
    }
}

/// Iterates over the implied moves of each module call; callers come before the modules they call.
fn calls(graph: &ConfigGraph) -> impl Iterator<Item = Statement> {
    graph.modules().filter_map(|(_, module)| {
        let caller = module.caller?;
        let holder = graph.module(caller.module);
        let (name, call) = holder.config.calls.get_index(caller.call as usize)?;
        let (from, to) = keys(call.count.as_ref(), call.for_each.as_ref())?;
        let side = |key| Target::Module(ModuleInstance::root().child(name.clone(), key));
        (holder.config.product_of(call) == Product::OpenTofu).then(|| Statement {
            module: holder.path().clone(),
            from: side(from),
            to: side(to),
            span: call.span,
        })
    })
}

/// Moves the single object of a resource that gained or lost `count`: `x` and `x[0]` are the same. An explicit moved block for the
/// resource
/// takes precedence.
pub(super) fn resources(graph: &ConfigGraph, state: &mut State, moves: &mut Moves, statements: &[Statement]) {
    let mut planned: Vec<(ResourceInstance, ResourceInstance)> = Vec::new();
    let mut about: HashMap<&Resource, Vec<&Statement>> = HashMap::new();
    for statement in statements {
        statement.resources().for_each(|resource| about.entry(resource).or_default().push(statement));
    }
    let is_spoken_of = |address: &AbsResource| {
        let mut about = about.get(&address.resource).into_iter().flatten();
        about.any(|statement| statement.names_resource(address))
    };
    for (address, entry) in state.resources() {
        let Some((module, node)) = graph.find_resource(&address.config_resource()) else { continue };
        let NodeKind::Resource(at) = graph.module(module).kind(node) else { continue };
        let Some((_, resource)) = graph.module(module).config.resources.get_index(at as usize) else { continue };
        let Some((from, to)) = keys(resource.count.as_ref(), resource.for_each.as_ref()) else { continue };
        if entry.instance(&from).is_some() && entry.instance(&to).is_none() && !is_spoken_of(address) {
            planned.push((address.instance(from), address.instance(to)));
        }
    }
    let mut ignored = Vec::new();
    for (from, to) in planned {
        moves.rename(state, from, to, &mut ignored);
    }
}

/// The resources of a state by the place of their blocks: a statement is about all instances of the module that holds it,
/// and looks only at the addresses that it names, however large the state is.
pub(super) struct Bound {
    /// By the names on the way to the module, so that those below a module follow it.
    modules: BTreeMap<Vec<Name>, HashMap<Resource, BTreeSet<AbsResource>>>,
}

impl Bound {
    pub(super) fn of(state: &State) -> Self {
        let mut bound = Self { modules: BTreeMap::new() };
        state.resources().for_each(|(resource, _)| bound.add(resource));
        bound
    }

    /// Objects are bound to instances of `resource` now; to forget where they are not any more is not needed.
    pub(super) fn add(&mut self, resource: &AbsResource) {
        let names = resource.module.steps().iter().map(|step| step.name.clone()).collect();
        let of_block = self.modules.entry(names).or_default().entry(resource.resource.clone()).or_default();
        if !of_block.contains(resource) {
            of_block.insert(resource.clone());
        }
    }

    /// Returns the objects that `statement` moves, with their new addresses.
    pub(super) fn moved_by(&self, statement: &Statement, state: &State) -> Vec<(ResourceInstance, ResourceInstance)> {
        let mut found = Vec::new();
        let mut look_at = |address: ResourceInstance| {
            if let Some(target) = statement.apply(&address).filter(|target| *target != address) {
                found.push((address, target));
            }
        };
        for resource in self.named_by(statement) {
            let Some(entry) = state.resource(resource) else { continue };
            match (&statement.from, &statement.to) {
                (Target::Instance(ResourceInstance { key, .. }), _) if entry.instance(key).is_some() => {
                    look_at(resource.instance(key.clone()));
                }
                (Target::Instance(_), _) => {}
                (Target::Resource(_), Target::Instance(_)) if entry.instance(&InstanceKey::None).is_none() => {}
                _ => entry.instances().for_each(|(key, _)| look_at(resource.instance(key.clone()))),
            }
        }
        found
    }

    /// The instances of a call that have something in the state.
    pub(super) fn instances_of_call(&self, call: &Statement, state: &State) -> HashSet<ModuleInstance> {
        let depth = call.names().len();
        let there = self.named_by(call).into_iter().filter(|resource| state.resource(resource).is_some());
        there.map(|resource| ModuleInstance::from_steps(resource.module.steps().iter().take(depth).cloned())).collect()
    }

    /// The resources with the block that a statement names, or in the modules it names; not all need be meant.
    fn named_by(&self, statement: &Statement) -> BTreeSet<&AbsResource> {
        let named = statement.names();
        match &statement.from {
            Target::Module(_) => {
                let below = self.modules.range(named.clone()..).take_while(|(names, _)| names.starts_with(&named));
                below.flat_map(|(_, blocks)| blocks.values().flatten()).collect()
            }
            Target::Resource(AbsResource { resource, .. }) | Target::Instance(ResourceInstance { resource, .. }) => {
                let of_block = self.modules.get(&named).and_then(|blocks| blocks.get(resource));
                of_block.into_iter().flatten().collect()
            }
        }
    }
}
