//! Deferral of changes to a later run (PL-29, PL-45).
//!
//! A node that is left to a later run passes that on to whatever depends on it, as [`Outcome::Deferred`]. Values are worked out as
//! far as they are known; objects are planned as far as their providers can, but what would be done is kept apart from the changes
//! that the plan makes.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_plan::{DeferralReason, DeferredChange, Mode, Source};
use groma_provider::{PlanPurpose, planned_unknown};
use groma_value::Value;

use super::data;
use super::evaluated;
use super::event::{Instance, ManagedSubject};
use super::inputs::Inputs;
use super::instances::{self, resource_visit};
use super::plan_call::Draft;
use super::planner::Planner;
use super::results;
use crate::options::Deferral;
use crate::record;
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::World;

/// Whether an instance represents all future instances of its resource.
pub(super) fn stands_for_many(inputs: &Inputs<'_>, world: &World, instance: Instance) -> bool {
    inputs.deferral() == Deferral::Allowed && !world.open_steps(instance.module, instance.resource).is_empty()
}

/// Returns the purpose to give to the provider when a creation is planned.
pub(super) fn creation(inputs: &Inputs<'_>, world: &World, instance: Instance) -> PlanPurpose {
    if stands_for_many(inputs, world, instance) { PlanPurpose::Placeholder } else { PlanPurpose::Change }
}

/// Returns the reason for deferring an instance, as far as it is known before its provider is asked.
pub(super) fn deferral(
    planner: &Planner<'_>,
    instance: Instance,
    address: &ResourceInstance,
    template: &Template,
) -> Option<DeferralReason> {
    // What goes does not wait for what it depends on.
    if planner.inputs.deferral() == Deferral::Refused || planner.inputs.mode() == Mode::Destroy {
        return None;
    }
    // From the most specific reason to the most general one; the first that applies is reported.
    if stands_for_many(&planner.inputs, &planner.world, instance) {
        return Some(DeferralReason::InstanceCountUnknown);
    }
    if let Some(reason) = planner.managers.deferral_reason(&template.provider) {
        return Some(reason);
    }
    if planner.schedule.is_deferred(resource_visit(&planner.world, instance.module, instance.resource)) {
        return Some(DeferralReason::DeferredPrerequisite);
    }
    planner.imports.is_deferred(address, &planner.state).then_some(DeferralReason::ResourceConfigUnknown)
}

/// Defers an instance whose provider cannot be called in this run.
pub(super) fn defer_instance(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    template: &Template,
    reason: DeferralReason,
) {
    // Only a normal plan shows what would be changed; other modes only note the deferral.
    let evaluated = match planner.inputs.mode() {
        Mode::Normal => evaluated::evaluate_instance(
            &planner.inputs,
            &planner.world,
            &mut planner.evaluation,
            instance,
            &address,
            template,
        ),
        Mode::RefreshOnly | Mode::Destroy => None,
    };
    let Some(evaluated) = evaluated else {
        // In a normal plan a missing evaluation is an error that was already reported.
        let failed = planner.inputs.mode() == Mode::Normal;
        return instances::end_instance(planner, instance, if failed { Outcome::Failed } else { Outcome::Deferred });
    };
    let subject = ManagedSubject {
        instance: Some(instance),
        address,
        deposed: None,
        provider: Arc::clone(&template.provider),
        schema: Arc::clone(&template.schema),
        create_before_destroy: evaluated.create_before_destroy,
        is_kept: false,
        undecided: false,
        outcome: Outcome::Deferred,
        importing: None,
    };
    defer_without_call(planner, &subject, &evaluated.config, reason);
}

/// Defers the change of a managed object without a provider call: planned values are those of the configuration.
pub(super) fn defer_without_call(
    planner: &mut Planner<'_>,
    subject: &ManagedSubject,
    config: &Value,
    reason: DeferralReason,
) {
    let block = &subject.schema.block;
    let record = planner.state.object(&subject.address, subject.deposed.as_ref());
    let known = record.and_then(|record| record::decode(&subject.schema, record));
    // A record that cannot be decoded without its provider counts as absent here.
    let before = known.unwrap_or_else(|| block.null_value());
    // A null configuration means a deletion, whose planned value is null as well.
    let after = if config.is_null() { block.null_value() } else { planned_unknown(block, config) };
    let value = if after.is_null() { before.clone() } else { after.clone() };
    note_deferred(planner, subject, Draft::unasked(before, after, reason), reason);
    // Orphans and deposed objects belong to no instance that could end.
    if let Some(instance) = subject.instance {
        let data = &mut planner.world.module_mut(instance.module).resources[instance.resource as usize];
        data.settle(instance.position, value);
        // Pending, so that data sources that depend on the object are not read yet (PL-07).
        data.pending = true;
        instances::end_instance(planner, instance, Outcome::Deferred);
    }
}

/// Adds a deferred change of a managed object to the plan.
pub(super) fn note_deferred(planner: &mut Planner<'_>, subject: &ManagedSubject, draft: Draft, reason: DeferralReason) {
    let source = match planner.imports.is_deferred(&subject.address, &planner.state) {
        true => Source::Unknown,
        false => Source::Known,
    };
    let node_ref = subject.instance.filter(|_| subject.deposed.is_none());
    let open_steps = node_ref.map(|one| planner.world.open_steps(one.module, one.resource)).unwrap_or_default();
    let change = results::change(&planner.inputs, &planner.moves, subject, draft);
    planner.plan.defer(node_ref, DeferredChange { reason, change, open_steps, source });
}

/// Defers the read of a data source.
pub(super) fn defer_data(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: ResourceInstance,
    template: &Template,
    config: &Value,
    reason: DeferralReason,
) {
    let after = planned_unknown(&template.schema.block, config);
    let data = &mut planner.world.module_mut(instance.module).resources[instance.resource as usize];
    data.settle(instance.position, after.clone());
    let change = data::read_change(&planner.moves, address, template, after, None);
    let open_steps = planner.world.open_steps(instance.module, instance.resource);
    planner.plan.defer(None, DeferredChange { reason, change, open_steps, source: Source::Known });
    instances::end_instance(planner, instance, Outcome::Deferred);
}
