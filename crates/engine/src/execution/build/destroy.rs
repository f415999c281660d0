//! When objects are destroyed: the rules OD-02 to OD-11, each where its edges are made.

use std::collections::{BTreeMap, HashMap};

use groma_address::ConfigResource;

use super::super::Step;
use super::edges::Strength;
use super::targets::{Dependency, Targets};
use super::users::Users;
use super::{Builder, NONE};
use crate::config_graph::narrow;
use crate::plan::{Action, Mode, ResourceChange};
use crate::walk::Visit;

/// A step that destroys an object, or takes it out of the state.
pub(super) struct Destroy {
    /// The number of its change.
    pub(super) change: u32,
    pub(super) step: u32,
    pub(super) resource: ConfigResource,
    pub(super) kind: DestroyKind,
}

/// What becomes of the instance of an object that is destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DestroyKind {
    /// It has a new object afterwards.
    Replace,
    /// It has a new object before.
    ReplaceCreateFirst,
    /// It is gone for good.
    Orphan,
    /// It is gone for good, and its record or its block says that its replacements are created first.
    OrphanCreateFirst,
    /// It has another object: this one was left behind by an earlier run.
    Deposed,
}

impl DestroyKind {
    fn of(change: &ResourceChange) -> Option<Self> {
        Some(match change.action {
            Action::DeleteThenCreate | Action::ForgetThenCreate => Self::Replace,
            Action::CreateThenDelete => Self::ReplaceCreateFirst,
            Action::Delete | Action::Forget if change.deposed.is_some() => Self::Deposed,
            Action::Delete | Action::Forget if change.create_before_destroy => Self::OrphanCreateFirst,
            Action::Delete | Action::Forget => Self::Orphan,
            Action::NoOp | Action::Create | Action::Read | Action::Update => return None,
        })
    }

    /// Whether the instance has no object any more.
    pub(super) fn is_orphan(self) -> bool {
        matches!(self, Self::Orphan | Self::OrphanCreateFirst)
    }

    /// Whether the object stays until its users have been changed, whatever these changes wait for.
    fn outlives_users(self) -> bool {
        matches!(self, Self::ReplaceCreateFirst | Self::OrphanCreateFirst | Self::Deposed)
    }
}

impl Builder<'_> {
    /// Adds the steps that destroy objects, and everything that is ordered around them.
    pub(super) fn destroy(&mut self) {
        let destroys = self.destroy_steps();
        if destroys.is_empty() {
            return;
        }
        self.dependents_destroyed_first(&destroys);
        self.provider_objects_destroyed_first(&destroys);
        if self.inputs.mode == Mode::Normal {
            self.users_changed_first(&destroys);
            self.recorded_users_changed_first(&destroys);
            self.destroyed_before_updates(&destroys);
            self.destroyed_after_changes(&destroys);
            self.reads_after_destroy(&destroys);
        }
    }

    /// The steps themselves, with what belongs to the same instance: its provider, the other half of a replacement, its actions.
    fn destroy_steps(&mut self) -> Vec<Destroy> {
        let changes = self.inputs.changes;
        let mut destroys = Vec::new();
        for (change, planned) in (0_u32..).zip(changes) {
            let Some(kind) = DestroyKind::of(planned) else { continue };
            let what = match planned.action {
                Action::Forget | Action::ForgetThenCreate => Step::Forget(change),
                _ => Step::Delete(change),
            };
            // OD-10: a provider that is configured with what this run changes is configured with the result.
            let provider = self.provider_step(planned);
            let step = self.step(what, provider.as_slice());
            self.provider_of.extend(provider.map(|provider| (step, provider)));
            match (kind, self.makes.get(&change).copied()) {
                // OD-03, OD-04
                (DestroyKind::ReplaceCreateFirst, Some(create)) => self.edges.require([(create, step)]),
                (_, Some(create)) => self.edges.require([(step, create)]),
                (_, None) => {}
            }
            if kind == DestroyKind::Deposed {
                self.replaced_first(planned, step);
            }
            self.actions_around(change, step);
            destroys.push(Destroy { change, step, resource: planned.address.config_resource(), kind });
        }
        destroys
    }

    /// OD-07: what an earlier run left behind may be the only object that works, until the instance has a new one.
    fn replaced_first(&mut self, deposed: &ResourceChange, step: u32) {
        let Some((module, resource, _)) = self.inputs.world.locate(&deposed.address) else { return };
        let create = self.instance(module, resource, &deposed.address.key);
        if create != NONE && matches!(self.steps[create as usize], Step::Create(_)) {
            self.edges.add(Strength::ReplacementFirst, create, step);
        }
    }

    /// OD-11: actions before a change precede its destruction, those after it follow that.
    fn actions_around(&mut self, change: u32, step: u32) {
        for action in self.before.get(&change).into_iter().flatten() {
            self.edges.add(Strength::ReplacementFirst, *action, step);
        }
        if let Some(action) = self.after.get(&change) {
            self.edges.add(Strength::ReplacementFirst, step, *action);
        }
    }

    /// OD-02: an object is destroyed before what its record says that it depends on.
    fn dependents_destroyed_first(&mut self, destroys: &[Destroy]) {
        let changes = self.inputs.changes;
        // Apart from each other, because only what is replaced can be what a provider waits for (OD-10).
        let (mut gone, mut replaced) = (Targets::default(), Targets::default());
        for destroy in destroys {
            let targets = if destroy.kind.is_orphan() { &mut gone } else { &mut replaced };
            targets.add(&destroy.resource, &changes[destroy.change as usize].address, destroy.step);
        }
        let records: Vec<_> =
            destroys.iter().map(|destroy| (self.inputs.dependencies)(destroy.change as usize)).collect();
        for (destroy, record) in destroys.iter().zip(&records) {
            let address = &changes[destroy.change as usize].address;
            for resource in record.iter().filter(|resource| **resource != destroy.resource) {
                let dependency = Dependency::of(address, &destroy.resource, resource);
                for targets in [&mut gone, &mut replaced] {
                    if let Some(gate) = targets.gate(dependency, |steps| self.before_all(steps)) {
                        self.edges.add(Strength::DependentsDestroyedFirst, destroy.step, gate);
                    }
                }
            }
        }
    }

    /// OD-10: the objects of a provider are destroyed before what its configuration depends on, when that is gone for good.
    fn provider_objects_destroyed_first(&mut self, destroys: &[Destroy]) {
        let world = self.inputs.world;
        let mut gone: HashMap<&ConfigResource, Vec<u32>> = HashMap::new();
        for destroy in destroys.iter().filter(|destroy| destroy.kind.is_orphan()) {
            gone.entry(&destroy.resource).or_default().push(destroy.step);
        }
        if gone.is_empty() {
            return;
        }
        let mut of_provider: BTreeMap<Visit, Vec<u32>> = BTreeMap::new();
        for destroy in destroys {
            if let Some(block) = self.provider_block(&self.inputs.changes[destroy.change as usize]) {
                of_provider.entry(block).or_default().push(destroy.step);
            }
        }
        for (block, steps) in of_provider {
            let ancestors = world.graph().ancestors().of(world.module(block.module).of, block.node);
            let required: Vec<u32> =
                ancestors.iter().filter_map(|resource| gone.get(resource)).flatten().copied().collect();
            if required.is_empty() {
                continue;
            }
            let gate = self.join(&steps);
            for step in required {
                self.edges.add(Strength::DependentsDestroyedFirst, gate, step);
            }
        }
    }

    /// OD-04, OD-05, OD-07: what is created before it is destroyed stays until everything that refers to it has been changed.
    fn users_changed_first(&mut self, destroys: &[Destroy]) {
        let mut users = Users::default();
        for destroy in destroys.iter().filter(|destroy| destroy.kind.outlives_users()) {
            for node in self.used_nodes(&self.inputs.changes[destroy.change as usize].address) {
                let done = self.users_done(&mut users, node);
                if done != NONE {
                    self.edges.add(Strength::UsersFirst, done, destroy.step);
                }
            }
        }
    }

    /// OD-04 to OD-07 by the records of users, which still name what their configuration refers to no more.
    fn recorded_users_changed_first(&mut self, destroys: &[Destroy]) {
        let changes = self.inputs.changes;
        let (mut outliving, mut others) = (Targets::default(), Targets::default());
        for destroy in destroys {
            let address = &changes[destroy.change as usize].address;
            match destroy.kind {
                DestroyKind::Orphan => others.add(&destroy.resource, address, destroy.step),
                kind if kind.outlives_users() => outliving.add(&destroy.resource, address, destroy.step),
                _ => {}
            }
        }
        if outliving.is_empty() && others.is_empty() {
            return;
        }
        let users: Vec<_> = self
            .made(|step| matches!(step, Step::Create(_) | Step::Update(_)))
            .into_iter()
            .map(|(change, step)| (change, step, (self.inputs.dependencies)(change as usize)))
            .collect();
        let owners: Vec<ConfigResource> =
            users.iter().map(|(change, ..)| changes[*change as usize].address.config_resource()).collect();
        for ((change, step, record), own) in users.iter().zip(&owners) {
            let address = &changes[*change as usize].address;
            let is_update = matches!(self.steps[*step as usize], Step::Update(_));
            for resource in record.iter().filter(|resource| *resource != own) {
                let dependency = Dependency::of(address, own, resource);
                if let Some(gate) = outliving.gate(dependency, |steps| self.before_all(steps)) {
                    self.edges.add(Strength::UsersFirst, *step, gate);
                }
                // OD-06
                if is_update && let Some(gate) = others.gate(dependency, |steps| self.before_all(steps)) {
                    self.edges.add(Strength::UpdatesFirst, *step, gate);
                }
            }
        }
    }

    /// OD-03: an object is updated when those of its users that go are gone, as if it were replaced.
    fn destroyed_before_updates(&mut self, destroys: &[Destroy]) {
        let changes = self.inputs.changes;
        let updates = self.made(|step| matches!(step, Step::Update(_)));
        let updates: Vec<_> =
            updates.into_iter().map(|(change, step)| (&changes[change as usize].address, step)).collect();
        let resources: Vec<ConfigResource> = updates.iter().map(|(address, _)| address.config_resource()).collect();
        let mut targets = Targets::default();
        for ((address, step), resource) in updates.iter().zip(&resources) {
            targets.add(resource, address, *step);
        }
        if targets.is_empty() {
            return;
        }
        let early: Vec<_> = destroys
            .iter()
            .filter(|destroy| !destroy.kind.outlives_users())
            .map(|destroy| (destroy, (self.inputs.dependencies)(destroy.change as usize)))
            .collect();
        for (destroy, record) in &early {
            let address = &changes[destroy.change as usize].address;
            for resource in record.iter().filter(|resource| **resource != destroy.resource) {
                let dependency = Dependency::of(address, &destroy.resource, resource);
                if let Some(gate) = targets.gate(dependency, |steps| self.before_all(steps)) {
                    self.edges.add(Strength::AroundUpdates, destroy.step, gate);
                }
            }
        }
    }

    /// An object that goes for good and is created before it is destroyed goes after what it depends on has been changed: it stays
    /// where such a change fails.
    fn destroyed_after_changes(&mut self, destroys: &[Destroy]) {
        let last: Vec<_> = destroys
            .iter()
            .filter(|destroy| destroy.kind == DestroyKind::OrphanCreateFirst)
            .map(|destroy| (destroy, (self.inputs.dependencies)(destroy.change as usize)))
            .collect();
        if last.is_empty() {
            return;
        }
        let changes = self.inputs.changes;
        let made = self.made(|step| matches!(step, Step::Create(_) | Step::Update(_)));
        let made: Vec<_> = made.into_iter().map(|(change, step)| (&changes[change as usize].address, step)).collect();
        let resources: Vec<ConfigResource> = made.iter().map(|(address, _)| address.config_resource()).collect();
        let mut targets = Targets::default();
        for ((address, step), resource) in made.iter().zip(&resources) {
            targets.add(resource, address, *step);
        }
        for (destroy, record) in &last {
            let address = &changes[destroy.change as usize].address;
            for resource in record.iter().filter(|resource| **resource != destroy.resource) {
                let dependency = Dependency::of(address, &destroy.resource, resource);
                if let Some(gate) = targets.gate(dependency, |steps| self.join(steps)) {
                    self.edges.add(Strength::AroundUpdates, gate, destroy.step);
                }
            }
        }
    }

    /// A step before several others. What waits for them by it waits with edges that may yield; that they wait for it is nothing
    /// that could contradict another rule.
    fn before_all(&mut self, steps: &[u32]) -> u32 {
        let gate = narrow(self.steps.len());
        self.steps.push(Step::Join);
        self.edges.require(steps.iter().map(|step| (gate, *step)));
        gate
    }

    /// The changes whose object is made or changed by a step of some kind, with that step, in the order of the changes: a plan has
    /// one order only.
    fn made(&self, is_meant: fn(Step) -> bool) -> Vec<(u32, u32)> {
        let made = self.makes.iter().filter(|(_, step)| is_meant(self.steps[**step as usize]));
        let mut made: Vec<(u32, u32)> = made.map(|(change, step)| (*change, *step)).collect();
        made.sort_unstable();
        made
    }
}
