//! Ordering the actions of a plan.

mod components;
mod destroy;
mod edges;
mod invocations;
mod own;
mod users;

use std::collections::HashMap;

use groma_address::{InstanceKey, Mode as ResourceMode, ResourceInstance};
use groma_plan::{Action, ExecutionGraph, Invocation, Mode, ResourceChange, Step};
use groma_state::Dependencies;

use edges::Edges;

use crate::config_graph::{ModuleIndex, NodeIndex, NodeKind, NodeRef, StaticModule, narrow};
use crate::walk::{Visit, plays_no_part_in_destroying};
use crate::world::{Expansion, ModuleId, World};

/// The inputs of [`build`].
pub struct Inputs<'a> {
    /// The module instances with their values.
    pub world: &'a World,
    /// The nodes in the order in which planning ended them.
    pub order: &'a [Visit],
    /// The planned changes.
    pub changes: &'a [ResourceChange],
    /// The recorded dependencies of each change's object (PL-12).
    pub dependencies: &'a dyn Fn(usize) -> Dependencies,
    /// Changes without an action whose conditions are not decided yet.
    pub undecided: &'a [u32],
    /// Actions to be invoked.
    pub invocations: &'a [Invocation],
    /// The kind of plan.
    pub mode: Mode,
    /// Whether the plan includes a node; a plan with targets leaves others out.
    pub is_included: &'a dyn Fn(ModuleIndex, NodeIndex) -> bool,
    /// Whether objects of an instance that outlive the changes of their users stay: a plan with targets may leave users out.
    pub keeps: &'a dyn Fn(&ResourceInstance) -> bool,
}

/// Builds the execution graph.
pub fn build(inputs: &Inputs<'_>) -> ExecutionGraph {
    let mut builder = Builder::new(inputs);
    for visit in inputs.order {
        // Nodes outside of the target set are not evaluated by apply either.
        if (inputs.is_included)(inputs.world.module(visit.module).of, visit.node) {
            builder.node_ref(*visit);
        }
    }
    // After the nodes: generated blocks have none.
    builder.generated_blocks();
    invocations::requested(&mut builder);
    // Destructions come last, because their rules refer to the steps of creations and updates.
    destroy::destroy(&mut builder);
    builder.checked_data_last();
    builder.finish()
}

const NONE: u32 = u32::MAX;

/// The execution graph while it is being built.
///
/// Owns the steps, the edges with their strengths, and what the rules look up: the step that ends each node, the step that
/// makes each object, and the actions around each change. Nodes are placed in the order in which planning ended them, so
/// that everything a node requires has its step already. Then come the rules of destruction, each a function of `destroy`,
/// which only add edges. Which edges yield where they contradict each other is decided once, when it is finished
/// (`edges`): no rule depends on the edges of another one.
///
/// It reads the world and the changes, and changes neither.
struct Builder<'a> {
    inputs: &'a Inputs<'a>,
    steps: Vec<Step>,
    edges: Edges,
    /// The step after which each node is done, by module instance and node.
    ends: Vec<Vec<u32>>,
    /// The step that makes the object of a change.
    makes: HashMap<u32, u32>,
    /// The change of each instance in the configuration that has an action or something to decide.
    live: HashMap<(ModuleId, u32), Vec<(InstanceKey, u32)>>,
    /// The invocations around each change.
    invoked: HashMap<u32, Vec<u32>>,
    /// The steps of the actions before each change.
    before: HashMap<u32, Vec<u32>>,
    /// The step of the first action after each change.
    after: HashMap<u32, u32>,
    /// The step that configures the provider for each step that destroys an object.
    provider_of: HashMap<u32, u32>,
}

impl<'a> Builder<'a> {
    fn new(inputs: &'a Inputs<'a>) -> Self {
        let world = inputs.world;
        let ends = world.modules().map(|(id, _)| vec![NONE; world.static_module(id).len()]).collect();
        let mut live: HashMap<_, Vec<_>> = HashMap::new();
        let mut note = |at: usize, change: &ResourceChange| {
            if let Some((module, resource, _)) = world.locate(&change.address) {
                live.entry((module, resource)).or_default().push((change.address.key.clone(), narrow(at)));
            }
        };
        for (at, change) in inputs.changes.iter().enumerate() {
            let makes =
                matches!(change.action, Action::Create | Action::Update | Action::Read) || change.action.is_replace();
            if change.deposed.is_none() && makes {
                note(at, change);
            }
        }
        // An undecided no-op gets a step as well, in which its conditions are decided.
        for at in inputs.undecided {
            if let Some(change) = inputs.changes.get(*at as usize) {
                note(*at as usize, change);
            }
        }
        // Sorted by key, for looking instances up.
        live.values_mut().for_each(|changes| changes.sort_unstable());
        let invoked = invocations::around(inputs);
        Self {
            inputs,
            steps: Vec::new(),
            edges: Edges::default(),
            ends,
            makes: HashMap::new(),
            live,
            invoked,
            before: HashMap::new(),
            after: HashMap::new(),
            provider_of: HashMap::new(),
        }
    }

    fn step(&mut self, step: Step, requires: &[u32]) -> u32 {
        let number = narrow(self.steps.len());
        self.steps.push(step);
        self.edges.require(requires.iter().map(|required| (*required, number)));
        number
    }

    /// Returns one step that waits for all of `steps`; `NONE` for an empty slice.
    fn join(&mut self, steps: &[u32]) -> u32 {
        match steps {
            [] => NONE,
            // An existing step is reused; a join would only add an edge.
            [only] => *only,
            _ => self.step(Step::Join, steps),
        }
    }

    fn node_ref(&mut self, visit: Visit) {
        let world = self.inputs.world;
        let module = world.static_module(visit.module);
        let kind = module.kind(visit.node);
        let id = visit.module.0;
        if self.inputs.mode == Mode::Destroy && plays_no_part_in_destroying(kind, visit.module) {
            return;
        }
        let mut requires = self.requirements(visit);
        let end = match kind {
            NodeKind::Variable(at) => self.step(Step::Variable(id, at), &requires),
            NodeKind::Validation(at) => self.step(Step::Validation(id, at), &requires),
            NodeKind::Local(at) => self.step(Step::Local(id, at), &requires),
            NodeKind::Output(at) => self.step(Step::Output(id, at), &requires),
            NodeKind::Check(at) => self.step(Step::Check(id, at), &requires),
            // Only the values of `each.value` can change between plan and apply, so other calls need no step.
            NodeKind::Call(at) => match world.module(visit.module).calls[at as usize].expansion {
                Expansion::ForEach(_) => self.step(Step::ExpandCall(id, at), &requires),
                _ => self.join(&requires),
            },
            NodeKind::CallOutput { call, output } => {
                // An output of the call waits for that output in every instance.
                for child in &world.module(visit.module).calls[call as usize].instances {
                    let output = world.static_module(*child).output(output as usize);
                    requires.push(self.ends[child.at()][output.at()]);
                }
                requires.retain(|step| *step != NONE);
                self.join(&requires)
            }
            NodeKind::CallEnd(call) => {
                for child in &world.module(visit.module).calls[call as usize].instances {
                    let module = world.static_module(*child);
                    // Checks in a module never delay its users.
                    let ends = module.nodes().filter(|(_, kind)| !is_of_check(module, *kind));
                    let ends = ends.map(|(node, _)| self.ends[child.at()][node.at()]);
                    requires.extend(ends.filter(|step| *step != NONE));
                }
                self.join(&requires)
            }
            // What an import named is in the plan.
            NodeKind::Import(_) => self.join(&requires),
            NodeKind::Action(_) => self.join(&requires),
            NodeKind::Trigger(at) => invocations::invocations_after(self, visit.module, at, &requires),
            NodeKind::Provider(at) => self.step(Step::Provider(id, at), &requires),
            NodeKind::Resource(at) => self.resource(visit.module, at, &requires),
        };
        self.ends[visit.module.at()][visit.node.at()] = end;
    }

    fn requirements(&self, visit: Visit) -> Vec<u32> {
        let world = self.inputs.world;
        let module = world.static_module(visit.module);
        let data = world.module(visit.module);
        let mut found = Vec::new();
        for requirement in world.graph().requires(data.of, visit.node) {
            let step = match requirement.node_ref {
                NodeRef::Here(node) => match (&requirement.key, module.kind(node)) {
                    // A literal key waits only for that instance, which allows more steps to run at once.
                    (Some(key), NodeKind::Resource(resource)) => self.instance(visit.module, resource, key),
                    _ => self.ends[visit.module.at()][node.at()],
                },
                NodeRef::Caller(node) => match (data.caller, &requirement.key) {
                    (Some(caller), Some(key)) => match world.static_module(caller).kind(node) {
                        NodeKind::Resource(resource) => self.instance(caller, resource, key),
                        _ => self.ends[caller.at()][node.at()],
                    },
                    (Some(caller), None) => self.ends[caller.at()][node.at()],
                    (None, _) => NONE,
                },
                NodeRef::Above(above, node) => {
                    // Provider blocks are in modules with a single instance.
                    world.instances_of(above).first().map_or(NONE, |id| self.ends[id.at()][node.at()])
                }
            };
            found.push(step);
        }
        // Nothing in a module runs before the call is expanded.
        if let (Some(caller), Some(node_ref)) = (data.caller, module.caller) {
            let call = world.static_module(caller).call(node_ref.call as usize);
            found.push(self.ends[caller.at()][call.at()]);
        }
        found.retain(|step| *step != NONE);
        // Several references can lead to one step.
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The step that makes one instance of a resource, if something is done to it.
    fn instance(&self, module: ModuleId, resource: u32, key: &InstanceKey) -> u32 {
        if self.is_ephemeral(module, resource) {
            // All its instances are opened by one step.
            let node = self.inputs.world.static_module(module).resource(resource as usize);
            return self.ends[module.at()][node.at()];
        }
        let changes = self.live.get(&(module, resource)).map_or(&[][..], Vec::as_slice);
        let change = changes.binary_search_by(|(known, _)| known.cmp(key)).ok().and_then(|at| changes.get(at));
        change.and_then(|(_, change)| self.makes.get(change)).copied().unwrap_or(NONE)
    }

    fn is_ephemeral(&self, module: ModuleId, resource: u32) -> bool {
        let blocks = &self.inputs.world.static_module(module).config.resources;
        blocks.get_index(resource as usize).is_some_and(|(address, _)| address.mode == ResourceMode::Ephemeral)
    }

    fn resource(&mut self, module: ModuleId, resource: u32, requires: &[u32]) -> u32 {
        if self.is_ephemeral(module, resource) {
            return self.step(Step::Open(module.0, resource), requires);
        }
        // A resource without planned changes needs no step, and its users need not wait.
        let Some(changes) = self.live.get(&(module, resource)).cloned() else { return NONE };
        let repeats =
            matches!(self.inputs.world.module(module).resources[resource as usize].expansion, Expansion::ForEach(_));
        // Through one step, where many instances wait for many others.
        let start = match (repeats, requires.len() > 1 && changes.len() > 1) {
            (true, _) => Some(self.step(Step::ExpandResource(module.0, resource), requires)),
            (false, true) => Some(self.step(Step::Join, requires)),
            (false, false) => None,
        };
        let first = start.as_ref().map_or(requires, std::slice::from_ref).to_vec();
        let mut made = Vec::with_capacity(changes.len());
        for (key, change) in changes {
            let step = match self.inputs.changes[change as usize].action {
                Action::Create | Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => {
                    Step::Create(change)
                }
                Action::Update => Step::Update(change),
                Action::Read => Step::Read(change),
                // The action of an undecided instance is no-op, and its conditions are all there is to do.
                Action::NoOp | Action::Delete | Action::Forget => Step::Conditions(change),
            };
            let before = invocations::invocations_before(self, change);
            let step = self.step(step, &first);
            self.edges.require(before.last().map(|before| (*before, step)));
            // Destructions and users look up this step later.
            self.makes.insert(change, step);
            made.push((key, step));
        }
        let world = self.inputs.world;
        own::after_own(self, &world.static_module(module).config, resource, &made);
        self.join(&made.into_iter().map(|(_, step)| step).collect::<Vec<_>>())
    }

    /// Adds steps for generated blocks of imported objects. They have no node and depend on their provider alone.
    fn generated_blocks(&mut self) {
        for (at, change) in self.inputs.changes.iter().enumerate() {
            let is_generated = change.importing.as_ref().is_some_and(|importing| importing.generated.is_some());
            let step = match change.action {
                Action::Update => Step::Update(narrow(at)),
                action if action.is_replace() => Step::Create(narrow(at)),
                _ => continue,
            };
            // Other imports have an instance in the configuration, and with it a step already.
            if is_generated && self.inputs.world.locate(&change.address).is_none() {
                let provider = self.provider_step(change);
                let step = self.step(step, provider.as_slice());
                self.makes.insert(narrow(at), step);
            }
        }
    }

    fn provider_step(&self, change: &ResourceChange) -> Option<u32> {
        let visit = self.provider_block(change)?;
        Some(self.ends[visit.module.at()][visit.node.at()]).filter(|step| *step != NONE)
    }

    /// The provider block that manages the object of a change, if its configuration has one.
    fn provider_block(&self, change: &ResourceChange) -> Option<Visit> {
        let world = self.inputs.world;
        let index = world.graph().find(&change.provider.module)?;
        let module = *world.instances_of(index).first()?;
        let config = &world.graph().module(index).config;
        let position = config.providers.keys().position(|local| {
            local.alias == change.provider.alias && config.provider_address(&local.name) == change.provider.provider
        })?;
        Some(Visit { module, node: world.graph().module(index).provider(position) })
    }

    /// Data sources inside check blocks are read when everything is made: that is what the checks are about. Nothing but
    /// their check depends on them.
    fn checked_data_last(&mut self) {
        let world = self.inputs.world;
        let is_checked = |change: u32| {
            let change = &self.inputs.changes[change as usize];
            change.action == Action::Read
                && world.locate(&change.address).is_some_and(|(module, resource, _)| {
                    is_of_check(world.static_module(module), NodeKind::Resource(resource))
                })
        };
        let (checked, others): (Vec<_>, Vec<_>) = self.makes.iter().partition(|(change, _)| is_checked(**change));
        let reads: Vec<u32> = checked.into_iter().map(|(_, step)| *step).collect();
        let mut others: Vec<u32> = others.into_iter().map(|(_, step)| *step).collect();
        if reads.is_empty() {
            return;
        }
        // The order of a hash map must not change the graph.
        others.sort_unstable();
        let gate = self.join(&others);
        if gate != NONE {
            self.edges.require(reads.iter().map(|read| (gate, *read)));
        }
    }

    fn finish(self) -> ExecutionGraph {
        let edges = self.edges.resolve(self.steps.len(), &self.provider_of);
        ExecutionGraph::new(self.steps, edges)
    }
}

/// Whether a node is a check block or a data source inside one. These come when all else is done, so nothing waits for them.
fn is_of_check(module: &StaticModule, kind: NodeKind) -> bool {
    match kind {
        NodeKind::Check(_) => true,
        NodeKind::Resource(at) => {
            module.config.resources.get_index(at as usize).is_some_and(|(_, block)| block.check.is_some())
        }
        _ => false,
    }
}
