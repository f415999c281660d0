//! Ordering the actions of a plan.

use std::collections::{HashMap, HashSet};

use groma_address::{ConfigResource, InstanceKey, Mode as ResourceMode};
use groma_state::Dependencies;

use super::{ExecutionGraph, Step};
use crate::config_graph::{Dependent, ModuleIndex, NodeIndex, NodeKind, Place, narrow};
use crate::invocation::Invocation;
use crate::plan::{Action, Mode, ResourceChange};
use crate::walk::{Visit, plays_no_part_in_destroying};
use crate::world::{Expansion, ModuleId, World};

/// What the order is made from.
pub struct Inputs<'a> {
    /// The instances.
    pub world: &'a World,
    /// The nodes in the order in which planning ended them.
    pub order: &'a [Visit],
    /// The changes.
    pub changes: &'a [ResourceChange],
    /// What the object of each change depended on when it was last written (PL-12).
    pub dependencies: &'a dyn Fn(usize) -> Dependencies,
    /// Changes without an action whose conditions could not be told.
    pub undecided: &'a [u32],
    /// Actions to be invoked.
    pub invocations: &'a [Invocation],
    /// What kind of plan it is.
    pub mode: Mode,
    /// Whether the plan looks at a node: one for chosen targets leaves the others alone.
    pub looks_at: &'a dyn Fn(ModuleIndex, NodeIndex) -> bool,
}

/// Builds the execution graph.
pub fn build(inputs: &Inputs<'_>) -> ExecutionGraph {
    let mut builder = Builder::new(inputs);
    for visit in inputs.order {
        if (inputs.looks_at)(inputs.world.module(visit.module).of, visit.node) {
            builder.place(*visit);
        }
    }
    builder.written();
    builder.requested();
    builder.deletions();
    builder.checked_data_last();
    builder.finish()
}

const NONE: u32 = u32::MAX;

struct Builder<'a> {
    inputs: &'a Inputs<'a>,
    steps: Vec<Step>,
    /// (required, dependent)
    edges: Vec<(u32, u32)>,
    /// The step that stands for the end of each node, by module instance and node.
    ends: Vec<Vec<u32>>,
    /// The step that makes the object of a change.
    makes: HashMap<u32, u32>,
    /// The change of each instance in the configuration that has an action or something to decide.
    live: HashMap<(ModuleId, u32), Vec<(InstanceKey, u32)>>,
    /// What is invoked around each change.
    invoked: HashMap<u32, Vec<u32>>,
    /// The step of the last action before each change.
    before: HashMap<u32, u32>,
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
        for at in inputs.undecided {
            if let Some(change) = inputs.changes.get(*at as usize) {
                note(*at as usize, change);
            }
        }
        // Sorted by key, for looking instances up.
        live.values_mut().for_each(|changes| changes.sort_unstable());
        let invoked = invoked_around(inputs);
        let (makes, before) = (HashMap::new(), HashMap::new());
        Self { inputs, steps: Vec::new(), edges: Vec::new(), ends, makes, live, invoked, before }
    }

    fn step(&mut self, step: Step, requires: &[u32]) -> u32 {
        let number = narrow(self.steps.len());
        self.steps.push(step);
        self.edges.extend(requires.iter().map(|required| (*required, number)));
        number
    }

    /// One step that stands for all of `steps`; none for none.
    fn join(&mut self, steps: &[u32]) -> u32 {
        match steps {
            [] => NONE,
            [only] => *only,
            _ => self.step(Step::Join, steps),
        }
    }

    fn place(&mut self, visit: Visit) {
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
            NodeKind::Call(at) => match world.module(visit.module).calls[at as usize].expansion {
                Expansion::ForEach(_) => self.step(Step::ExpandCall(id, at), &requires),
                _ => self.join(&requires),
            },
            NodeKind::CallOutput { call, output } => {
                for child in &world.module(visit.module).calls[call as usize].instances {
                    let output = world.static_module(*child).output(output as usize);
                    requires.push(self.ends[child.at()][output.at()]);
                }
                requires.retain(|step| *step != NONE);
                self.join(&requires)
            }
            NodeKind::CallEnd(call) => {
                for child in &world.module(visit.module).calls[call as usize].instances {
                    requires.extend(self.ends[child.at()].iter().copied().filter(|step| *step != NONE));
                }
                self.join(&requires)
            }
            // What an import named is in the plan.
            NodeKind::Import(_) => self.join(&requires),
            NodeKind::Action(_) => self.join(&requires),
            NodeKind::Trigger(at) => self.invocations_after(visit.module, at, &requires),
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
            let step = match requirement.place {
                Place::Here(node) => match (&requirement.key, module.kind(node)) {
                    (Some(key), NodeKind::Resource(resource)) => self.instance(visit.module, resource, key),
                    _ => self.ends[visit.module.at()][node.at()],
                },
                Place::Caller(node) => match (data.caller, &requirement.key) {
                    (Some(caller), Some(key)) => match world.static_module(caller).kind(node) {
                        NodeKind::Resource(resource) => self.instance(caller, resource, key),
                        _ => self.ends[caller.at()][node.at()],
                    },
                    (Some(caller), None) => self.ends[caller.at()][node.at()],
                    (None, _) => NONE,
                },
                Place::Above(above, node) => {
                    world.instances_of(above).first().map_or(NONE, |id| self.ends[id.at()][node.at()])
                }
            };
            found.push(step);
        }
        if let (Some(caller), Some(place)) = (data.caller, module.caller) {
            let call = world.static_module(caller).call(place.call as usize);
            found.push(self.ends[caller.at()][call.at()]);
        }
        found.retain(|step| *step != NONE);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The step that makes one instance of a resource, if something is done to it.
    fn instance(&self, module: ModuleId, resource: u32, key: &InstanceKey) -> u32 {
        let changes = self.live.get(&(module, resource)).map_or(&[][..], Vec::as_slice);
        let change = changes.binary_search_by(|(known, _)| known.cmp(key)).ok().and_then(|at| changes.get(at));
        change.and_then(|(_, change)| self.makes.get(change)).copied().unwrap_or(NONE)
    }

    fn resource(&mut self, module: ModuleId, resource: u32, requires: &[u32]) -> u32 {
        let blocks = &self.inputs.world.static_module(module).config.resources;
        if blocks.get_index(resource as usize).is_some_and(|(address, _)| address.mode == ResourceMode::Ephemeral) {
            return self.step(Step::Open(module.0, resource), requires);
        }
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
        for (_, change) in changes {
            let step = match self.inputs.changes[change as usize].action {
                Action::Create | Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => {
                    Step::Create(change)
                }
                Action::Update => Step::Update(change),
                Action::Read => Step::Read(change),
                Action::NoOp | Action::Delete | Action::Forget => Step::Conditions(change),
            };
            let before = self.invocations_before(change, &first);
            let step = self.step(step, before.as_ref().map_or(&first[..], std::slice::from_ref));
            self.makes.insert(change, step);
            made.push(step);
        }
        self.join(&made)
    }

    /// The actions before a change, one after the other; the last of them.
    fn invocations_before(&mut self, change: u32, requires: &[u32]) -> Option<u32> {
        let mut last = None;
        for invocation in self.invoked_at(change, true) {
            let step = self.step(Step::Invoke(invocation), last.as_ref().map_or(requires, std::slice::from_ref));
            last = Some(step);
        }
        if let Some(step) = last {
            self.before.insert(change, step);
        }
        last
    }

    /// The actions after the changes of a resource. Whatever else depends on the resource does not wait for them.
    fn invocations_after(&mut self, module: ModuleId, resource: u32, requires: &[u32]) -> u32 {
        let node = self.inputs.world.static_module(module).resource(resource as usize);
        let whole = self.ends[module.at()][node.at()];
        let others: Vec<u32> = requires.iter().copied().filter(|step| *step != whole).collect();
        let mut ends = Vec::new();
        for (_, change) in self.live.get(&(module, resource)).cloned().unwrap_or_default() {
            let mut last = self.makes.get(&change).copied();
            let mut first = others.clone();
            for invocation in self.invoked_at(change, false) {
                first.extend(last);
                let step = self.step(Step::Invoke(invocation), &first);
                first.clear();
                last = Some(step);
                ends.push(step);
            }
        }
        self.join(&ends)
    }

    fn invoked_at(&self, change: u32, before: bool) -> Vec<u32> {
        let all = self.invoked.get(&change).map_or(&[][..], Vec::as_slice).iter().copied();
        let is_then = |at: &u32| {
            let trigger = self.inputs.invocations.get(*at as usize).and_then(Invocation::trigger);
            trigger.is_some_and(|(_, event)| event.is_before() == before)
        };
        all.filter(is_then).collect()
    }

    /// Blocks that were written for imports have no node: they stand on their provider alone.
    fn written(&mut self) {
        for (at, change) in self.inputs.changes.iter().enumerate() {
            let is_written = change.importing.as_ref().is_some_and(|importing| importing.generated.is_some());
            let step = match change.action {
                Action::Update => Step::Update(narrow(at)),
                action if action.is_replace() => Step::Create(narrow(at)),
                _ => continue,
            };
            if is_written && self.inputs.world.locate(&change.address).is_none() {
                let provider = self.provider_step(change);
                let step = self.step(step, provider.as_slice());
                self.makes.insert(narrow(at), step);
            }
        }
    }

    /// What a person asks for stands on nothing that changes.
    fn requested(&mut self) {
        for (at, invocation) in self.inputs.invocations.iter().enumerate() {
            if invocation.trigger().is_none() {
                let world = self.inputs.world;
                let requires = world.find(&invocation.action.module).and_then(|module| {
                    let place = world.static_module(module);
                    let key = (invocation.action.type_name.clone(), invocation.action.name.clone());
                    let node = place.action(place.config.actions.get_index_of(&key)?);
                    Some(self.ends[module.at()][node.at()]).filter(|step| *step != NONE)
                });
                self.step(Step::Invoke(narrow(at)), requires.as_slice());
            }
        }
    }

    /// Deletions run in the reverse of dependency order (PL-12), the first half of a replacement before the second
    /// (PL-09) or after it and after all that stands on it (PL-10).
    fn deletions(&mut self) {
        let changes = self.inputs.changes;
        let mut deletes: Vec<(u32, u32)> = Vec::new();
        let mut by_resource: HashMap<ConfigResource, Vec<u32>> = HashMap::new();
        for (at, change) in changes.iter().enumerate() {
            let at = narrow(at);
            let step = match change.action {
                Action::Forget | Action::ForgetThenCreate => Step::Forget(at),
                Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete => Step::Delete(at),
                _ => continue,
            };
            let provider = self.provider_step(change);
            let step = self.step(step, provider.as_slice());
            deletes.push((at, step));
            self.edges.extend(self.before.get(&at).map(|before| (*before, step)));
            by_resource.entry(change.address.config_resource()).or_default().push(step);
            if let Some(make) = self.makes.get(&at).copied() {
                match change.action {
                    Action::CreateThenDelete => self.edges.push((make, step)),
                    _ => self.edges.push((step, make)),
                }
            }
        }
        self.reverse_order(&deletes, &by_resource);
        self.after_dependents(&deletes);
        self.updates_before_orphans(&deletes, &by_resource);
    }

    fn provider_step(&self, change: &ResourceChange) -> Option<u32> {
        let world = self.inputs.world;
        let module = world.graph().find(&change.provider.module)?;
        let id = *world.instances_of(module).first()?;
        let config = &world.graph().module(module).config;
        let position = config.providers.keys().position(|local| {
            local.alias == change.provider.alias && config.provider_address(&local.name) == change.provider.provider
        })?;
        let node = world.graph().module(module).provider(position);
        Some(self.ends[id.at()][node.at()]).filter(|step| *step != NONE)
    }

    fn reverse_order(&mut self, deletes: &[(u32, u32)], by_resource: &HashMap<ConfigResource, Vec<u32>>) {
        let mut gates: HashMap<&ConfigResource, u32> = HashMap::new();
        for (change, step) in deletes {
            let own = self.inputs.changes[*change as usize].address.config_resource();
            for dependency in (self.inputs.dependencies)(*change as usize).iter() {
                let Some((resource, targets)) = by_resource.get_key_value(dependency) else { continue };
                if *resource == own {
                    continue;
                }
                match targets.as_slice() {
                    [only] => self.edges.push((*step, *only)),
                    many => {
                        let gate = *gates.entry(resource).or_insert_with(|| {
                            let gate = narrow(self.steps.len());
                            self.steps.push(Step::Join);
                            self.edges.extend(many.iter().map(|target| (gate, *target)));
                            gate
                        });
                        self.edges.push((*step, gate));
                    }
                }
            }
        }
    }

    /// An object that was replaced by one created before goes when all that stood on it stand on the new one.
    fn after_dependents(&mut self, deletes: &[(u32, u32)]) {
        let mut by_resource: HashMap<(ModuleId, u32), Vec<u32>> = HashMap::new();
        for (change, step) in deletes {
            let change = &self.inputs.changes[*change as usize];
            if change.action == Action::CreateThenDelete
                && let Some((module, resource, _)) = self.inputs.world.locate(&change.address)
            {
                by_resource.entry((module, resource)).or_default().push(*step);
            }
        }
        for ((module, resource), steps) in by_resource {
            let node = self.inputs.world.static_module(module).resource(resource as usize);
            let users = self.users(Visit { module, node });
            let gate = self.join(&users);
            if gate != NONE {
                self.edges.extend(steps.iter().map(|step| (gate, *step)));
            }
        }
    }

    /// The ends of the resources that depend on a node, directly or through values.
    fn users(&self, from: Visit) -> Vec<u32> {
        let world = self.inputs.world;
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![from];
        while let Some(visit) = open.pop() {
            for next in dependents(world, visit) {
                if !seen.insert(next) {
                    continue;
                }
                let kind = world.static_module(next.module).kind(next.node);
                let end = self.ends[next.module.at()][next.node.at()];
                match kind {
                    NodeKind::Resource(_) if end != NONE => found.push(end),
                    _ => open.push(next),
                }
            }
        }
        found
    }

    /// What used to stand on an object that goes for good is changed first, where that makes no circle: an object is
    /// seldom free to go while another still uses it.
    fn updates_before_orphans(&mut self, deletes: &[(u32, u32)], by_resource: &HashMap<ConfigResource, Vec<u32>>) {
        let changes = self.inputs.changes;
        let replaced: HashSet<ConfigResource> = changes
            .iter()
            .filter(|change| change.action == Action::DeleteThenCreate)
            .map(|change| change.address.config_resource())
            .collect();
        let mut orphans: HashMap<&ConfigResource, Vec<u32>> = HashMap::new();
        for (change, step) in deletes {
            let plain =
                changes[*change as usize].action == Action::Delete && changes[*change as usize].deposed.is_none();
            let free = || (self.inputs.dependencies)(*change as usize).iter().all(|found| !replaced.contains(found));
            let own = changes[*change as usize].address.config_resource();
            if plain
                && free()
                && let Some((resource, _)) = by_resource.get_key_value(&own)
                && self.inputs.world.graph().find_resource(resource).is_none()
            {
                orphans.entry(resource).or_default().push(*step);
            }
        }
        if orphans.is_empty() {
            return;
        }
        for (at, change) in changes.iter().enumerate() {
            let at = narrow(at);
            if change.action != Action::Update {
                continue;
            }
            let Some(make) = self.makes.get(&at).copied() else { continue };
            for dependency in (self.inputs.dependencies)(at as usize).iter() {
                for step in orphans.get(dependency).into_iter().flatten() {
                    self.edges.push((make, *step));
                }
            }
        }
    }

    /// Data sources inside check blocks are read when everything is made: that is what the checks are about. Nothing but
    /// their check stands on them.
    fn checked_data_last(&mut self) {
        let world = self.inputs.world;
        let is_checked = |change: u32| {
            let change = &self.inputs.changes[change as usize];
            change.action == Action::Read
                && world.locate(&change.address).is_some_and(|(module, resource, _)| {
                    let resources = &world.static_module(module).config.resources;
                    resources.get_index(resource as usize).is_some_and(|(_, block)| block.check.is_some())
                })
        };
        let (checked, others): (Vec<_>, Vec<_>) = self.makes.iter().partition(|(change, _)| is_checked(**change));
        let reads: Vec<u32> = checked.into_iter().map(|(_, step)| *step).collect();
        let mut others: Vec<u32> = others.into_iter().map(|(_, step)| *step).collect();
        if reads.is_empty() {
            return;
        }
        others.sort_unstable();
        let gate = self.join(&others);
        if gate != NONE {
            self.edges.extend(reads.iter().map(|read| (gate, *read)));
        }
    }

    fn finish(mut self) -> ExecutionGraph {
        self.edges.sort_unstable();
        self.edges.dedup();
        let mut starts = vec![0_u32; self.steps.len() + 1];
        for (required, _) in &self.edges {
            starts[*required as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let dependents = self.edges.into_iter().map(|(_, dependent)| dependent).collect();
        ExecutionGraph { steps: self.steps, starts, dependents }
    }
}

/// What is invoked around each change, in the order of the plan.
fn invoked_around(inputs: &Inputs<'_>) -> HashMap<u32, Vec<u32>> {
    let mut invoked: HashMap<u32, Vec<u32>> = HashMap::new();
    if inputs.invocations.is_empty() {
        return invoked;
    }
    let current = inputs.changes.iter().enumerate().filter(|(_, change)| change.deposed.is_none());
    let changes: HashMap<_, _> = current.map(|(at, change)| (&change.address, narrow(at))).collect();
    for (at, invocation) in inputs.invocations.iter().enumerate() {
        if let Some(change) = invocation.trigger().and_then(|(resource, _)| changes.get(resource)) {
            invoked.entry(*change).or_default().push(narrow(at));
        }
    }
    invoked
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
    if let (NodeKind::Output(output), Some(caller), Some(place)) =
        (kind, world.module(visit.module).caller, module.caller)
        && let Some(node) = world.static_module(caller).call_output(place.call as usize, output as usize)
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
