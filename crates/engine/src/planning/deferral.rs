//! What is left to a later run (PL-29, PL-45).
//!
//! A node that is left to a later run passes that on to whatever depends on it, as [`Outcome::Deferred`]. Values are worked out as
//! far as they are known; objects are planned as far as their providers can, but what would be done is kept apart from the changes
//! that the plan makes.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_plan::{DeferralReason, DeferredChange, Mode, Source};
use groma_provider::{PlanPurpose, planned_unknown};
use groma_value::Value;

use super::draft::Draft;
use super::event::{Instance, ManagedSubject};
use super::planner::Planner;
use crate::options::Deferral;
use crate::record;
use crate::templates::Template;
use crate::walk::Outcome;

impl Planner<'_> {
    /// Whether an instance stands for all that there will be.
    pub(super) fn stands_for_many(&self, instance: Instance) -> bool {
        self.inputs.deferral() == Deferral::Allowed
            && !self.world.open_steps(instance.module, instance.resource).is_empty()
    }

    /// What the plan of a creation is asked for.
    pub(super) fn creation(&self, instance: Instance) -> PlanPurpose {
        if self.stands_for_many(instance) { PlanPurpose::Placeholder } else { PlanPurpose::Change }
    }

    /// Why an instance is left to a later run, as far as that can be told before its provider is asked.
    pub(super) fn deferral(
        &self,
        instance: Instance,
        address: &ResourceInstance,
        template: &Template,
    ) -> Option<DeferralReason> {
        // What goes does not wait for what it depends on.
        if self.inputs.deferral() == Deferral::Refused || self.inputs.mode() == Mode::Destroy {
            return None;
        }
        if self.stands_for_many(instance) {
            return Some(DeferralReason::InstanceCountUnknown);
        }
        if let Some(reason) = self.managers.deferral_reason(&template.provider) {
            return Some(reason);
        }
        if self.schedule.is_deferred(self.resource_visit(instance.module, instance.resource)) {
            return Some(DeferralReason::DeferredPrerequisite);
        }
        self.imports.is_deferred(address, &self.state).then_some(DeferralReason::ResourceConfigUnknown)
    }

    /// Leaves an instance of the configuration to a later run whose provider cannot even be asked.
    pub(super) fn leave_instance(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        template: &Template,
        reason: DeferralReason,
    ) {
        let evaluated = match self.inputs.mode() {
            Mode::Normal => self.evaluate_instance(instance, &address, template),
            Mode::RefreshOnly | Mode::Destroy => None,
        };
        let Some(evaluated) = evaluated else {
            let failed = self.inputs.mode() == Mode::Normal;
            return self.end_instance(instance, if failed { Outcome::Failed } else { Outcome::Deferred });
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
        self.leave_unasked(&subject, &evaluated.config, reason);
    }

    /// Leaves a managed object to a later run whose provider cannot even be asked.
    pub(super) fn leave_unasked(&mut self, subject: &ManagedSubject, config: &Value, reason: DeferralReason) {
        let block = &subject.schema.block;
        let record = self.state.object(&subject.address, subject.deposed.as_ref());
        let known = record.and_then(|record| record::decode(&subject.schema, record));
        let before = known.unwrap_or_else(|| block.null_value());
        let after = if config.is_null() { block.null_value() } else { planned_unknown(block, config) };
        let value = if after.is_null() { before.clone() } else { after.clone() };
        self.note_deferred(subject, Draft::unasked(before, after, reason), reason);
        if let Some(instance) = subject.instance {
            let data = &mut self.world.module_mut(instance.module).resources[instance.resource as usize];
            data.settle(instance.position, value);
            data.pending = true;
            self.end_instance(instance, Outcome::Deferred);
        }
    }

    /// Keeps what would be done to a managed object.
    pub(super) fn note_deferred(&mut self, subject: &ManagedSubject, draft: Draft, reason: DeferralReason) {
        let source = match self.imports.is_deferred(&subject.address, &self.state) {
            true => Source::Unknown,
            false => Source::Known,
        };
        let place = subject.instance.filter(|_| subject.deposed.is_none());
        let open_steps = place.map(|one| self.world.open_steps(one.module, one.resource)).unwrap_or_default();
        let change = self.change(subject, draft);
        self.plan.defer(place, DeferredChange { reason, change, open_steps, source });
    }

    /// Leaves the reading of a data resource to a later run.
    pub(super) fn leave_data(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        template: &Template,
        config: &Value,
        reason: DeferralReason,
    ) {
        let after = planned_unknown(&template.schema.block, config);
        let data = &mut self.world.module_mut(instance.module).resources[instance.resource as usize];
        data.settle(instance.position, after.clone());
        let change = self.read_change(address, template, after, None);
        let open_steps = self.world.open_steps(instance.module, instance.resource);
        self.plan.defer(None, DeferredChange { reason, change, open_steps, source: Source::Known });
        self.end_instance(instance, Outcome::Deferred);
    }
}
