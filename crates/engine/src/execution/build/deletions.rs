//! What goes: in the reverse of dependency order, and around what takes its place.

use std::collections::{HashMap, HashSet};

use groma_address::ConfigResource;

use super::super::Step;
use super::{Builder, NONE};
use crate::config_graph::{Dependent, NodeIndex, NodeKind, narrow};
use crate::plan::{Action, Mode};
use crate::walk::Visit;
use crate::world::{ModuleId, World};

impl Builder<'_> {
    /// Deletions run in the reverse of dependency order (PL-12), the first half of a replacement before the second
    /// (PL-09) or after it and after all that stands on it (PL-10).
    pub(super) fn deletions(&mut self) {
        let changes = self.inputs.changes;
        let mut deletes: Vec<(u32, u32)> = Vec::new();
        let mut by_resource: HashMap<ConfigResource, Vec<u32>> = HashMap::new();
        let mut lost: HashMap<ConfigResource, Vec<u32>> = HashMap::new();
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
            if !change.action.is_replace() && change.deposed.is_none() {
                lost.entry(change.address.config_resource()).or_default().push(step);
            }
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
        if self.inputs.mode == Mode::Normal {
            self.reads_after_lost(&lost);
        }
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
