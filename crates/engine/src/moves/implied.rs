//! Implied moves: an object keeps its place when `count` is added (`x` becomes `x[0]`) or removed.

use std::collections::{HashMap, HashSet};

use groma_address::{AbsResource, InstanceKey, ModuleInstance, Resource, ResourceInstance, Target};
use groma_config::Product;
use groma_hcl::Expression;
use groma_state::State;

use super::Moves;
use super::bound::BoundResources;
use super::statement::Statement;
use crate::config_graph::{ConfigGraph, NodeKind};

/// Returns the former and the present key of a single instance for these arguments; `None` with `for_each`, which implies no move.
fn keys(count: Option<&Expression>, for_each: Option<&Expression>) -> Option<(InstanceKey, InstanceKey)> {
    match (count, for_each) {
        (Some(_), _) => Some((InstanceKey::None, InstanceKey::Int(0))),
        (None, None) => Some((InstanceKey::Int(0), InstanceKey::None)),
        (None, Some(_)) => None,
    }
}

/// Moves the single instance of a module call that gained or lost `count`, if the call follows OpenTofu.
pub(super) fn modules(graph: &ConfigGraph, state: &mut State, moves: &mut Moves, statements: &[Statement]) {
    let calls: Vec<Statement> = calls(graph).collect();
    if calls.is_empty() {
        return;
    }
    let mut bound = BoundResources::of(state);
    for call in &calls {
        let depth = call.module.steps().len() + 1;
        let instance =
            |address: &ResourceInstance| ModuleInstance::from_steps(address.module.steps().iter().take(depth).cloned());
        let moved = bound.moved_by(call, state);
        let taken: HashSet<ModuleInstance> = bound.instances_of_call(call, state);
        let mut blocked = Vec::new();
        // Cached by module instance, because one instance can contain many objects.
        let mut explicit: HashMap<ModuleInstance, bool> = HashMap::new();
        for (from, to) in moved {
            let is_explicit = *explicit
                .entry(instance(&from))
                .or_insert_with_key(|module| statements.iter().any(|statement| statement.names_module(module)));
            if !is_explicit && !taken.contains(&instance(&to)) {
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
/// resource takes precedence.
pub(super) fn resources(graph: &ConfigGraph, state: &mut State, moves: &mut Moves, statements: &[Statement]) {
    let mut planned: Vec<(ResourceInstance, ResourceInstance)> = Vec::new();
    let mut by_resource: HashMap<&Resource, Vec<&Statement>> = HashMap::new();
    for statement in statements {
        statement.resources().for_each(|resource| by_resource.entry(resource).or_default().push(statement));
    }
    let is_explicit = |address: &AbsResource| {
        let mut candidates = by_resource.get(&address.resource).into_iter().flatten();
        candidates.any(|statement| statement.names_resource(address))
    };
    for (address, entry) in state.resources() {
        let Some((module, node)) = graph.find_resource(&address.config_resource()) else { continue };
        let NodeKind::Resource(at) = graph.module(module).kind(node) else { continue };
        let Some((_, resource)) = graph.module(module).config.resources.get_index(at as usize) else { continue };
        let Some((from, to)) = keys(resource.count.as_ref(), resource.for_each.as_ref()) else { continue };
        if entry.instance(&from).is_some() && entry.instance(&to).is_none() && !is_explicit(address) {
            planned.push((address.instance(from), address.instance(to)));
        }
    }
    let mut ignored = Vec::new();
    for (from, to) in planned {
        moves.rename(state, from, to, &mut ignored);
    }
}
