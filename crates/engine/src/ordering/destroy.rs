//! The order of destruction: the rules OD-02 to OD-11, each where its edges are added.

use std::collections::{BTreeMap, HashMap};

use groma_address::ConfigResource;
use groma_plan::{Action, Mode, ResourceChange, Step};
use groma_state::Dependencies;

use super::edges::Strength;
use super::users::{self, Users};
use super::users::{Dependency, Targets};
use super::{Builder, NONE};
use crate::config_graph::{ModuleIndex, NodeIndex, narrow};
use crate::walk::Visit;

/// A step that destroys an object, or takes it out of the state.
pub(super) struct Destroy {
    pub(super) step: u32,
    pub(super) kind: DestroyKind,
    pub(super) object: Object,
}

/// An object that a step changes or destroys.
pub(super) struct Object {
    /// The number of its change.
    pub(super) change: u32,
    pub(super) resource: ConfigResource,
    /// The resources that its record in the state names as dependencies.
    record: Dependencies,
}

/// The fate of the instance whose object is destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DestroyKind {
    /// The instance gets a new object afterwards.
    Replace,
    /// The instance gets a new object before.
    ReplaceCreateFirst,
    /// The instance is gone for good.
    Orphan,
    /// The instance is gone for good, and by its record or its block its replacements are created first.
    OrphanCreateFirst,
    /// The instance has another object; an earlier run left this one behind.
    Deposed,
}

/// The order of an object and the objects that its record names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    DependentFirst,
    DependencyFirst,
}

impl DestroyKind {
    fn of(change: &ResourceChange) -> Option<Self> {
        Some(match change.action {
            Action::DeleteThenCreate | Action::ForgetThenCreate => Self::Replace,
            Action::CreateThenDelete => Self::ReplaceCreateFirst,
            // A deposed object comes before its action: it always outlives its users, whatever its flag says (OD-07).
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

/// Adds the steps that destroy objects, with all their edges.
pub(super) fn destroy(builder: &mut Builder<'_>) {
    let destroys = destroy_steps(builder);
    // Most plans destroy nothing, and then no rule applies.
    if destroys.is_empty() {
        return;
    }
    recorded_order(builder, &destroys);
    provider_objects_destroyed_first(builder, &destroys);
    // A full destroy changes no users, so only destructions are ordered among each other.
    if builder.inputs.mode == Mode::Normal {
        users_changed_first(builder, &destroys);
        reads_after_destroy(builder, &destroys);
    }
}

/// Adds the steps, with the edges to steps of the same instance: its provider, the other half of a replacement, its actions.
fn destroy_steps(builder: &mut Builder<'_>) -> Vec<Destroy> {
    let changes = builder.inputs.changes;
    let mut destroys = Vec::new();
    for (change, planned) in (0_u32..).zip(changes) {
        let Some(kind) = DestroyKind::of(planned) else { continue };
        // Its users may not be part of the run, so that it has to wait for a complete one.
        if builder.inputs.mode == Mode::Normal && kind.outlives_users() && (builder.inputs.keeps)(&planned.address) {
            continue;
        }
        let what = match planned.action {
            // A forgotten object is ordered as a destroyed one, since its users may still refer to it.
            Action::Forget | Action::ForgetThenCreate => Step::Forget(change),
            _ => Step::Delete(change),
        };
        // OD-10: a provider that is configured with what this run changes is configured with the result.
        let provider = builder.provider_step(planned);
        let step = builder.step(what, provider.as_slice());
        // Needed by the rule that lets edges yield to providers (OD-10, OD-12).
        builder.provider_of.extend(provider.map(|provider| (step, provider)));
        match (kind, builder.makes.get(&change).copied()) {
            // OD-03, OD-04
            (DestroyKind::ReplaceCreateFirst, Some(create)) => builder.edges.require([(create, step)]),
            (_, Some(create)) => builder.edges.require([(step, create)]),
            (_, None) => {}
        }
        if kind == DestroyKind::Deposed {
            replaced_first(builder, planned, step);
        }
        actions_around(builder, change, step);
        destroys.push(Destroy { step, kind, object: object(builder, change) });
    }
    destroys
}

/// OD-07: an object that an earlier run left behind may be the only one that works until the instance has a new one.
fn replaced_first(builder: &mut Builder<'_>, deposed: &ResourceChange, step: u32) {
    // Without an instance in the configuration, no replacement is created in this run.
    let Some((module, resource, _)) = builder.inputs.world.locate(&deposed.address) else { return };
    let create = builder.instance(module, resource, &deposed.address.key);
    // A step that only decides conditions makes no new object.
    if create != NONE && matches!(builder.steps[create as usize], Step::Create(_)) {
        builder.edges.add(Strength::ReplacementFirst, create, step);
    }
}

/// OD-11: actions before a change precede its destruction, those after it follow that.
fn actions_around(builder: &mut Builder<'_>, change: u32, step: u32) {
    for action in builder.before.get(&change).into_iter().flatten() {
        builder.edges.add(Strength::ReplacementFirst, *action, step);
    }
    if let Some(action) = builder.after.get(&change) {
        builder.edges.add(Strength::ReplacementFirst, step, *action);
    }
}

/// The rules by recorded dependencies, which still name what the configuration refers to no more.
fn recorded_order(builder: &mut Builder<'_>, destroys: &[Destroy]) {
    let destroyed = |is_meant: fn(DestroyKind) -> bool| -> Vec<(u32, &Object)> {
        let meant = destroys.iter().filter(|destroy| is_meant(destroy.kind));
        meant.map(|destroy| (destroy.step, &destroy.object)).collect()
    };
    let all = destroyed(|_| true);
    // OD-02. Orphans and other objects get edges of their own, because a provider only waits for objects that are replaced (OD-10).
    let (first, strength) = (Order::DependentFirst, Strength::DependentsDestroyedFirst);
    between(builder, &all, &destroyed(DestroyKind::is_orphan), first, strength);
    between(builder, &all, &destroyed(|kind| !kind.is_orphan()), first, strength);
    // Without creations and updates the rules about users have nothing to order.
    if builder.inputs.mode != Mode::Normal {
        return;
    }
    let made_or_updated = changed(builder, |step| matches!(step, Step::Create(_) | Step::Update(_)));
    let only_updated = changed(builder, |step| matches!(step, Step::Update(_)));
    let (changed, updated) = (references(&made_or_updated), references(&only_updated));
    // OD-04, OD-05, OD-07
    between(builder, &changed, &destroyed(DestroyKind::outlives_users), first, Strength::UsersFirst);
    // OD-06
    between(builder, &updated, &destroyed(|kind| kind == DestroyKind::Orphan), first, Strength::UpdatesFirst);
    // OD-03: an object is updated when those of its users that go are gone, as if it were replaced.
    between(builder, &destroyed(|kind| !kind.outlives_users()), &updated, first, Strength::AroundUpdates);
    // A user that is created before it is destroyed stays where a change of what it depends on fails.
    let last = destroyed(|kind| kind == DestroyKind::OrphanCreateFirst);
    between(builder, &last, &changed, Order::DependencyFirst, Strength::AroundUpdates);
}

/// Orders the steps of dependents and of the objects that their records name.
fn between(
    builder: &mut Builder<'_>,
    dependents: &[(u32, &Object)],
    dependencies: &[(u32, &Object)],
    order: Order,
    strength: Strength,
) {
    let changes = builder.inputs.changes;
    let mut targets = Targets::default();
    // The targets are indexed by resource, because records name resources; the module instance narrows them down.
    for (step, object) in dependencies {
        targets.add(&object.resource, &changes[object.change as usize].address, *step);
    }
    if targets.is_empty() {
        return;
    }
    for (step, object) in dependents {
        let address = &changes[object.change as usize].address;
        // Instances of one resource do not depend on each other, even if a record says so.
        for resource in object.record.iter().filter(|resource| **resource != object.resource) {
            let dependency = Dependency::of(address, &object.resource, resource);
            let gate = targets.gate(dependency, |steps| match order {
                Order::DependentFirst => before_all(builder, steps),
                Order::DependencyFirst => builder.join(steps),
            });
            match (gate, order) {
                (Some(gate), Order::DependentFirst) => builder.edges.add(strength, *step, gate),
                (Some(gate), Order::DependencyFirst) => builder.edges.add(strength, gate, *step),
                (None, _) => {}
            }
        }
    }
}

/// OD-10: the objects of a provider are destroyed before the objects that its configuration depends on and that go for good.
fn provider_objects_destroyed_first(builder: &mut Builder<'_>, destroys: &[Destroy]) {
    let world = builder.inputs.world;
    let mut gone: HashMap<&ConfigResource, Vec<u32>> = HashMap::new();
    for destroy in destroys.iter().filter(|destroy| destroy.kind.is_orphan()) {
        gone.entry(&destroy.object.resource).or_default().push(destroy.step);
    }
    if gone.is_empty() {
        return;
    }
    let mut of_provider: BTreeMap<Visit, Vec<u32>> = BTreeMap::new();
    for destroy in destroys {
        if let Some(block) = builder.provider_block(&builder.inputs.changes[destroy.object.change as usize]) {
            of_provider.entry(block).or_default().push(destroy.step);
        }
    }
    // Sorted by node, so that equal plans have equal graphs.
    for (block, steps) in of_provider {
        let ancestors = world.graph().ancestors().of(world.module(block.module).of, block.node);
        let required: Vec<u32> =
            ancestors.iter().filter_map(|resource| gone.get(resource)).flatten().copied().collect();
        if required.is_empty() {
            continue;
        }
        // One gate instead of an edge for each pair keeps the number of edges linear.
        let gate = builder.join(&steps);
        for step in required {
            builder.edges.add(Strength::DependentsDestroyedFirst, gate, step);
        }
    }
}

/// OD-04, OD-05, OD-07 by the configuration: an object stays until everything that refers to it has been changed.
fn users_changed_first(builder: &mut Builder<'_>, destroys: &[Destroy]) {
    // Shared by all destroyed objects, because their users overlap.
    let mut users = Users::default();
    for destroy in destroys.iter().filter(|destroy| destroy.kind.outlives_users()) {
        for node in users::used_nodes(builder, &builder.inputs.changes[destroy.object.change as usize].address) {
            let done = users::users_done(builder, &mut users, node);
            if done != NONE {
                builder.edges.add(Strength::UsersFirst, done, destroy.step);
            }
        }
    }
}

/// A step before several others. Only the edges to it may yield: it exists for them alone, so the edges from it contradict nothing.
fn before_all(builder: &mut Builder<'_>, steps: &[u32]) -> u32 {
    // A fresh step and not a shared join: yielding edges to it must not affect other dependents.
    let gate = narrow(builder.steps.len());
    builder.steps.push(Step::Join);
    builder.edges.require(steps.iter().map(|step| (gate, *step)));
    gate
}

/// The objects that steps of some kind create or update, in the order of their changes: a plan has one order only.
fn changed(builder: &Builder<'_>, is_meant: fn(Step) -> bool) -> Vec<(u32, Object)> {
    let made = builder.makes.iter().filter(|(_, step)| is_meant(builder.steps[**step as usize]));
    let mut made: Vec<(u32, u32)> = made.map(|(change, step)| (*change, *step)).collect();
    // The map has no order of its own.
    made.sort_unstable();
    made.into_iter().map(|(change, step)| (step, object(builder, change))).collect()
}

fn object(builder: &Builder<'_>, change: u32) -> Object {
    let resource = builder.inputs.changes[change as usize].address.config_resource();
    Object { change, resource, record: (builder.inputs.dependencies)(change as usize) }
}

fn references(objects: &[(u32, Object)]) -> Vec<(u32, &Object)> {
    objects.iter().map(|(step, object)| (*step, object)).collect()
}

/// Data is read after the resources that it depends on have lost their instances, so that it sees the result.
pub(super) fn reads_after_destroy(builder: &mut Builder<'_>, destroys: &[Destroy]) {
    let reads: Vec<(u32, u32)> = reads(builder).collect();
    let mut orphaned: HashMap<&ConfigResource, Vec<u32>> = HashMap::new();
    for destroy in destroys.iter().filter(|destroy| destroy.kind.is_orphan()) {
        orphaned.entry(&destroy.object.resource).or_default().push(destroy.step);
    }
    // Data sources without a destroyed dependency need no edges.
    if reads.is_empty() || orphaned.is_empty() {
        return;
    }
    let mut gates: HashMap<ConfigResource, u32> = HashMap::new();
    let mut gates_before: HashMap<(ModuleIndex, NodeIndex), Vec<u32>> = HashMap::new();
    for (change, step) in reads {
        let address = &builder.inputs.changes[change as usize].address;
        let Some((module, resource, _)) = builder.inputs.world.locate(address) else { continue };
        let node = builder.inputs.world.static_module(module).resource(resource as usize);
        let index = builder.inputs.world.module(module).of;
        // All instances of a data source wait for the same destructions.
        let before = gates_before.entry((index, node)).or_insert_with(|| {
            let ancestors = builder.inputs.world.graph().ancestors().of(index, node);
            let orphaned = ancestors.iter().filter_map(|ancestor| Some((ancestor, orphaned.get(ancestor)?)));
            orphaned
                .map(|(ancestor, steps)| *gates.entry(ancestor.clone()).or_insert_with(|| builder.join(steps)))
                .collect()
        });
        for gate in before.iter() {
            builder.edges.add(Strength::ReadAfterDestroy, *gate, step);
        }
    }
}

/// The data that is read, and by which step.
fn reads<'b>(builder: &'b Builder<'b>) -> impl Iterator<Item = (u32, u32)> + 'b {
    let changes = builder.inputs.changes.iter().enumerate();
    let reads = changes.filter(|(_, change)| change.action == Action::Read);
    reads.filter_map(|(at, _)| Some((narrow(at), *builder.makes.get(&narrow(at))?)))
}
