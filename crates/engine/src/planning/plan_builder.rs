//! The plan while it is being made.

use std::collections::{HashMap, HashSet};

use groma_address::{ConfigResource, ResourceInstance};
use groma_plan::{
    Action, DeferralReason, DeferredChange, DeferredInvocation, Generated, Invocation, ResourceChange, Source,
};
use groma_state::State;

use super::event::Instance;
use super::order::sort_by_address;
use crate::config_graph::narrow;
use crate::hooks::Searched;
use crate::world::ModuleId;

/// The changes, drift, deferred changes, invocations and generated blocks that planning has found so far.
///
/// Owns everything that ends up in the plan about single objects, and finds the change of an instance again while others
/// are planned: for `replace_triggered_by`, and for the actions around a change. An instance has either a change or a
/// deferred change, never both, and what was added is not changed before the walk has ended. Only then changes may be
/// deferred because of others ([`PlanBuilder::defer_with_others`]), which gives up the order in which they were added, and
/// [`PlanBuilder::sort`] brings everything into the order in which plans are shown.
///
/// It evaluates nothing, reads no objects and reports nothing.
#[derive(Default)]
pub(super) struct PlanBuilder {
    changes: Vec<ResourceChange>,
    change_of: HashMap<Instance, usize>,
    deferred: Vec<DeferredChange>,
    deferred_of: HashMap<Instance, usize>,
    drift: Vec<ResourceChange>,
    /// Instances without an action whose conditions cannot be decided yet.
    undecided: Vec<ResourceInstance>,
    invocations: Vec<Invocation>,
    deferred_invocations: Vec<DeferredInvocation>,
    /// Instances whose change is deferred because the actions before it are.
    deferred_by_actions: HashSet<Instance>,
    generated: Vec<Generated>,
    searched: Vec<Searched>,
    /// Whether any instance of a resource is updated or replaced, once that was asked: after its visit it does not change.
    acting: HashMap<(ModuleId, u32), bool>,
}

/// What a plan has of single objects, in the order in which it is shown.
pub(super) struct Contents {
    pub(super) changes: Vec<ResourceChange>,
    pub(super) deferred: Vec<DeferredChange>,
    pub(super) drift: Vec<ResourceChange>,
    pub(super) invocations: Vec<Invocation>,
    pub(super) deferred_invocations: Vec<DeferredInvocation>,
    pub(super) generated: Vec<Generated>,
    /// Objects that list blocks found.
    pub(super) searched: Vec<Searched>,
    /// What is of no use any more, and takes time to release.
    pub(super) spent: HashMap<Instance, usize>,
}

impl PlanBuilder {
    pub(super) fn add_change(&mut self, instance: Option<Instance>, change: ResourceChange) {
        if let Some(instance) = instance {
            self.change_of.insert(instance, self.changes.len());
        }
        self.changes.push(change);
    }

    pub(super) fn change_of(&self, instance: Instance) -> Option<&ResourceChange> {
        self.changes.get(*self.change_of.get(&instance)?)
    }

    /// The change of an instance, if it is an update or a replacement.
    pub(super) fn acting_change_of(&self, instance: Instance) -> Option<&ResourceChange> {
        let change = self.change_of(instance)?;
        (change.action == Action::Update || change.action.is_replace()).then_some(change)
    }

    /// Whether any of so many instances of a resource is updated or replaced.
    pub(super) fn is_acting(&mut self, module: ModuleId, resource: u32, instances: usize) -> bool {
        // Every data source that depends on the resource asks, and a resource can have many instances.
        if let Some(known) = self.acting.get(&(module, resource)) {
            return *known;
        }
        let mut positions = 0..instances;
        let acts = positions.any(|position| self.acting_change_of(Instance { module, resource, position }).is_some());
        self.acting.insert((module, resource), acts);
        acts
    }

    pub(super) fn changes(&self) -> &[ResourceChange] {
        &self.changes
    }

    /// Adds a change that is left to a later run.
    pub(super) fn defer(&mut self, instance: Option<Instance>, change: DeferredChange) {
        if let Some(instance) = instance {
            self.deferred_of.insert(instance, self.deferred.len());
        }
        self.deferred.push(change);
    }

    pub(super) fn deferred_of(&self, instance: Instance) -> Option<&DeferredChange> {
        self.deferred.get(*self.deferred_of.get(&instance)?)
    }

    pub(super) fn add_drift(&mut self, change: ResourceChange) {
        self.drift.push(change);
    }

    pub(super) fn add_undecided(&mut self, address: ResourceInstance) {
        self.undecided.push(address);
    }

    pub(super) fn add_invocations(&mut self, invocations: Vec<Invocation>) {
        self.invocations.extend(invocations);
    }

    pub(super) fn invocations(&self) -> &[Invocation] {
        &self.invocations
    }

    pub(super) fn defer_invocations(&mut self, invocations: impl IntoIterator<Item = DeferredInvocation>) {
        self.deferred_invocations.extend(invocations);
    }

    /// Notes that an instance's change is deferred because the actions before it are, which are added already.
    pub(super) fn note_deferred_by_actions(&mut self, instance: Instance) {
        self.deferred_by_actions.insert(instance);
    }

    pub(super) fn is_deferred_by_actions(&self, instance: Instance) -> bool {
        self.deferred_by_actions.contains(&instance)
    }

    pub(super) fn add_generated(&mut self, block: Generated) {
        self.generated.push(block);
    }

    pub(super) fn add_searched(&mut self, searched: Searched) {
        self.searched.push(searched);
    }

    /// Defers changes because of others that are deferred: for the end of the walk.
    pub(super) fn defer_with_others(&mut self, state: &State) {
        // Deposed objects first: keeping them can in turn keep what they depend on.
        self.keep_deposed_without_replacement();
        self.keep_what_is_needed(state);
    }

    /// Keeps deposed objects whose instance gets a new object only in a later run: one of them may be the only object that works
    /// (OD-07).
    fn keep_deposed_without_replacement(&mut self) {
        // Only these give the instance a new object, which would make the deposed one superfluous.
        let creates = |change: &ResourceChange| change.action == Action::Create || change.action.is_replace();
        let unmade = self.deferred.iter().map(|deferred| &deferred.change).filter(|change| creates(change));
        let unmade: HashSet<ResourceInstance> = unmade.map(|change| change.address.clone()).collect();
        if !unmade.is_empty() {
            self.defer_changes(|_, change| change.deposed.is_some() && unmade.contains(&change.address));
        }
    }

    /// An object whose deletion is left to a later run still needs what it depends on, so that stays too.
    fn keep_what_is_needed(&mut self, state: &State) {
        // Without this, a later run would destroy the dependent after its dependency is gone (OD-02).
        let goes = |change: &ResourceChange| change.action == Action::Delete;
        let stays = self.deferred.iter().filter(|deferred| goes(&deferred.change));
        let mut open: Vec<ConfigResource> = stays.flat_map(|deferred| needs(state, &deferred.change)).collect();
        if open.is_empty() {
            return;
        }
        // By resource, because recorded dependencies name resources and not instances.
        let mut deletions: HashMap<ConfigResource, Vec<usize>> = HashMap::new();
        for (at, change) in self.changes.iter().enumerate().filter(|(_, change)| goes(change)) {
            deletions.entry(change.address.config_resource()).or_default().push(at);
        }
        let mut needed: HashSet<usize> = HashSet::new();
        while let Some(resource) = open.pop() {
            // Removed from the map, so that a cycle of recorded dependencies ends.
            for at in deletions.remove(&resource).unwrap_or_default() {
                open.extend(needs(state, &self.changes[at]));
                needed.insert(at);
            }
        }
        self.defer_changes(|at, _| needed.contains(&at));
    }

    /// Leaves changes to a later run because of others that are left to it.
    fn defer_changes(&mut self, is_meant: impl Fn(usize, &ResourceChange) -> bool) {
        let reason = DeferralReason::DeferredPrerequisite;
        // Positions of changes shift here, which is safe because nothing looks them up after the walk.
        for (at, change) in std::mem::take(&mut self.changes).into_iter().enumerate() {
            if is_meant(at, &change) {
                self.deferred.push(DeferredChange { reason, change, open_steps: Vec::new(), source: Source::Known });
            } else {
                self.changes.push(change);
            }
        }
    }

    /// Brings everything into the order in which plans are shown: for the end of the walk.
    pub(super) fn sort(&mut self) {
        // Changes were added as their provider calls ended, which differs from run to run.
        in_order(&mut self.changes);
        in_order(&mut self.drift);
        sort_by_address(
            &mut self.deferred,
            |deferred| (&deferred.change.address.module, &deferred.change.address.resource),
            |one, other| {
                let (one, other) = (&one.change, &other.change);
                (&one.address.key, &one.deposed).cmp(&(&other.address.key, &other.deposed))
            },
        );
        self.invocations.sort_by(|one, other| one.order().cmp(&other.order()));
        self.deferred_invocations.sort_by(|one, other| one.invocation.order().cmp(&other.invocation.order()));
        sort_by_address(
            &mut self.searched,
            |searched| (&searched.address.module, &searched.address.resource),
            |one, other| one.address.key.cmp(&other.address.key),
        );
    }

    /// The positions of the changes without an action whose conditions cannot be decided yet.
    pub(super) fn undecided_changes(&self) -> Vec<u32> {
        // Addresses instead of positions, because sorting has changed the positions.
        let undecided: HashSet<_> = self.undecided.iter().collect();
        let is_undecided = |change: &ResourceChange| change.deposed.is_none() && undecided.contains(&change.address);
        let positions = self.changes.iter().enumerate().filter(|(_, change)| is_undecided(change));
        positions.map(|(at, _)| narrow(at)).collect()
    }

    pub(super) fn finish(self) -> Contents {
        Contents {
            changes: self.changes,
            deferred: self.deferred,
            drift: self.drift,
            invocations: self.invocations,
            deferred_invocations: self.deferred_invocations,
            generated: self.generated,
            searched: self.searched,
            spent: self.change_of,
        }
    }
}

/// The resources that the object of a change depends on, by its record.
fn needs(state: &State, change: &ResourceChange) -> Vec<ConfigResource> {
    let record = state.object(&change.address, change.deposed.as_ref());
    record.map(|record| record.dependencies.iter().cloned().collect()).unwrap_or_default()
}

fn in_order(changes: &mut [ResourceChange]) {
    sort_by_address(
        changes,
        |change| (&change.address.module, &change.address.resource),
        |one, other| (&one.address.key, &one.deposed).cmp(&(&other.address.key, &other.deposed)),
    );
}
