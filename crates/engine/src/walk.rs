//! The order of a walk over the instance graph: which node of which module instance can be visited next.
//!
//! The edges are those of the configuration graph; only a counter for each node of each instance is kept here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::config_graph::{ConfigGraph, Dependent, NodeIndex, NodeKind, NodeRef, narrow};
use crate::world::{ModuleId, World};

/// A node of a module instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Visit {
    /// The module instance of the node.
    pub module: ModuleId,
    /// The node in it.
    pub node: NodeIndex,
}

/// The outcome of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The node has its value.
    Done,
    /// The value is known as far as possible in this run: the node is deferred, and so is everything that depends on it.
    Deferred,
    /// There is no value. Dependents cannot be evaluated and are skipped without a further message.
    Failed,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    waiting: u32,
    ended: bool,
    failed: bool,
    deferred: bool,
}

impl Progress {
    /// Combines the outcome of a dependency into that of a node.
    fn inherit(&mut self, outcome: Outcome) {
        self.failed |= outcome == Outcome::Failed;
        self.deferred |= outcome == Outcome::Deferred;
    }

    fn outcome(self) -> Outcome {
        match (self.failed, self.deferred) {
            (true, _) => Outcome::Failed,
            (false, true) => Outcome::Deferred,
            (false, false) => Outcome::Done,
        }
    }
}

/// The nodes of one module instance.
#[derive(Debug)]
struct Instance {
    nodes: Box<[Progress]>,
    left: u32,
    /// The nodes that have ended, with their outcomes.
    all: Progress,
}

/// Keeps count of what waits for what.
#[derive(Debug)]
pub struct Walk {
    graph: Arc<ConfigGraph>,
    instances: Vec<Instance>,
    /// The lowest number comes first: blocks are visited in the order of the text where nothing speaks against it, which is
    /// the order in which they lie in memory.
    ready: BinaryHeap<Reverse<Visit>>,
    order: Vec<Visit>,
}

impl Walk {
    /// A walk that begins in the root module of `world`.
    pub fn new(world: &World) -> Self {
        let mut walk = Self {
            graph: Arc::clone(world.graph()),
            instances: Vec::new(),
            ready: BinaryHeap::new(),
            order: Vec::new(),
        };
        walk.enter(world, ModuleId::ROOT);
        walk
    }

    /// The next node whose requirements are done, and whether one of them failed or is left to a later run.
    pub fn next(&mut self) -> Option<(Visit, Outcome)> {
        let Reverse(visit) = self.ready.pop()?;
        Some((visit, self.instances[visit.module.at()].nodes[visit.node.at()].outcome()))
    }

    /// Whether a node is left to a later run: before it has ended, because of what it depends on.
    pub fn is_deferred(&self, visit: Visit) -> bool {
        let nodes = self.instances.get(visit.module.at()).map(|instance| &instance.nodes);
        nodes.and_then(|nodes| nodes.get(visit.node.at())).is_some_and(|progress| progress.deferred)
    }

    /// Takes in the instances of a module call that was just expanded; to be followed by [`Walk::end`] of the call.
    pub fn expanded(&mut self, world: &World, caller: ModuleId, call: u32, instances: &[ModuleId]) {
        let module = world.static_module(caller);
        let outputs = match module.children[call as usize] {
            Some(child) => self.graph.module(child).config.outputs.len(),
            None => 0,
        };
        // The end of the call waits for all instances, and so does each of its outputs.
        let count = narrow(instances.len());
        let end = module.call_end(call as usize);
        let nodes = &mut self.instances[caller.at()].nodes;
        nodes[end.at()].waiting += count;
        for output in 0..outputs {
            if let Some(node) = module.call_output(call as usize, output) {
                nodes[node.at()].waiting += count;
            }
        }
        for id in instances {
            self.enter(world, *id);
        }
    }

    fn enter(&mut self, world: &World, id: ModuleId) {
        debug_assert_eq!(self.instances.len(), id.at(), "module instances are entered in the order of their numbers");
        let caller = world.module(id).caller;
        let (graph, index) = (Arc::clone(&self.graph), world.module(id).of);
        let module = graph.module(index);
        // Where the call is left to a later run, so is everything in it.
        let call = caller.zip(module.caller).map(|(caller, node_ref)| {
            let node = world.static_module(caller).call(node_ref.call as usize);
            Visit { module: caller, node }
        });
        let deferred = call.is_some_and(|call| self.is_deferred(call));
        let mut nodes = vec![Progress { deferred, ..Progress::default() }; module.len()].into_boxed_slice();
        for (here, _) in module.nodes() {
            let progress = &mut nodes[here.at()];
            for requirement in graph.requires(index, here) {
                let other = match requirement.node_ref {
                    // No node of this instance can have ended yet.
                    NodeRef::Here(_) => None,
                    NodeRef::Caller(node) => caller.map(|caller| (caller, node)),
                    // A module with provider configurations that others use has only one instance.
                    NodeRef::Above(module, node) => world.instances_of(module).first().map(|id| (*id, node)),
                };
                match other {
                    None => progress.waiting += 1,
                    Some((id, node)) => {
                        let known = self.instances[id.at()].nodes[node.at()];
                        // A node outside may have ended before this instance was made.
                        progress.waiting += u32::from(!known.ended);
                        progress.inherit(known.outcome());
                    }
                }
            }
            if progress.waiting == 0 {
                self.ready.push(Reverse(Visit { module: id, node: here }));
            }
        }
        let left = narrow(nodes.len());
        self.instances.push(Instance { nodes, left, all: Progress::default() });
        if left == 0 {
            self.leave(world, id);
        }
    }

    /// Notes that a node is done or failed, and frees what waited for it.
    pub fn end(&mut self, world: &World, visit: Visit, outcome: Outcome) {
        let instance = &mut self.instances[visit.module.at()];
        let progress = &mut instance.nodes[visit.node.at()];
        debug_assert!(!progress.ended, "a node ends once");
        progress.ended = true;
        progress.inherit(outcome);
        // A failure that came along with what the node depends on has been passed on by that.
        let outcome = if outcome == Outcome::Failed { outcome } else { progress.outcome() };
        instance.all.inherit(outcome);
        instance.left -= 1;
        // Copied, because the borrow of the instance ends before its dependents are freed.
        let left = instance.left;
        self.order.push(visit);
        let graph = Arc::clone(&self.graph);
        let index = world.module(visit.module).of;
        let module = graph.module(index);
        for dependent in graph.dependents(index, visit.node) {
            match *dependent {
                Dependent::Here(node) => self.free(Visit { module: visit.module, node }, outcome),
                // A variable exists once in each instance of the called module.
                Dependent::Input { call, node } => {
                    for id in &world.module(visit.module).calls[call as usize].instances {
                        self.free(Visit { module: *id, node }, outcome);
                    }
                }
                Dependent::Below(module, node) => {
                    for id in world.instances_of(module) {
                        self.free(Visit { module: *id, node }, outcome);
                    }
                }
            }
        }
        if let NodeKind::Output(output) = module.kind(visit.node) {
            self.free_output(world, visit.module, output, outcome);
        }
        if left == 0 {
            self.leave(world, visit.module);
        }
    }

    fn free(&mut self, visit: Visit, outcome: Outcome) {
        // An instance that is being made counts what has ended when it is entered.
        let Some(instance) = self.instances.get_mut(visit.module.at()) else { return };
        let progress = &mut instance.nodes[visit.node.at()];
        progress.inherit(outcome);
        progress.waiting -= 1;
        if progress.waiting == 0 {
            self.ready.push(Reverse(visit));
        }
    }

    fn free_output(&mut self, world: &World, child: ModuleId, output: u32, outcome: Outcome) {
        let (Some(caller), Some(node_ref)) = (world.module(child).caller, world.static_module(child).caller) else {
            return;
        };
        if let Some(node) = world.static_module(caller).call_output(node_ref.call as usize, output as usize) {
            self.free(Visit { module: caller, node }, outcome);
        }
    }

    fn leave(&mut self, world: &World, child: ModuleId) {
        let outcome = self.instances[child.at()].all.outcome();
        let (Some(caller), Some(node_ref)) = (world.module(child).caller, world.static_module(child).caller) else {
            return;
        };
        let node = world.static_module(caller).call_end(node_ref.call as usize);
        self.free(Visit { module: caller, node }, outcome);
    }

    /// All nodes that ended, each after what it waited for: for the end of the walk.
    pub fn take_order(&mut self) -> Vec<Visit> {
        std::mem::take(&mut self.order)
    }
}

/// Whether a node is irrelevant for destruction: outputs and checks.
pub fn plays_no_part_in_destroying(kind: NodeKind, module: ModuleId) -> bool {
    match kind {
        NodeKind::Check(_) | NodeKind::Validation(_) | NodeKind::Import(_) | NodeKind::Trigger(_) => true,
        // Outputs of other modules may still configure the providers that delete objects.
        NodeKind::Output(_) => module == ModuleId::ROOT,
        _ => false,
    }
}
