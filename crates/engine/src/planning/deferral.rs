//! Deferral of changes to a later run (PL-29, PL-45).
//!
//! A node that is left to a later run passes that on to whatever depends on it, as [`Outcome::Deferred`]. Values are worked out as
//! far as they are known; objects are planned as far as their providers can, but what would be done is kept apart from the changes
//! that the plan makes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groma_address::{ConfigResource, ResourceInstance};
use groma_provider::{PlanPurpose, planned_unknown};
use groma_value::Value;

use super::draft::Draft;
use super::event::{Instance, ManagedSubject};
use super::planner::Planner;
use crate::options::Deferral;
use crate::plan::{Action, DeferralReason, DeferredChange, Mode, ResourceChange, Source};
use crate::record;
use crate::templates::Template;
use crate::walk::Outcome;

impl Planner<'_> {
    /// Whether an instance represents all future instances of its resource.
    pub(super) fn stands_for_many(&self, instance: Instance) -> bool {
        self.options.deferral == Deferral::Allowed
            && !self.world.open_steps(instance.module, instance.resource).is_empty()
    }

    /// Returns the purpose to give to the provider when a creation is planned.
    pub(super) fn creation(&self, instance: Instance) -> PlanPurpose {
        if self.stands_for_many(instance) { PlanPurpose::Placeholder } else { PlanPurpose::Change }
    }

    /// Returns the reason for deferring an instance, as far as it is known before its provider is asked.
    pub(super) fn deferral(
        &self,
        instance: Instance,
        address: &ResourceInstance,
        template: &Template,
    ) -> Option<DeferralReason> {
        // What goes does not wait for what it depends on.
        if self.options.deferral == Deferral::Refused || self.options.mode == Mode::Destroy {
            return None;
        }
        if self.stands_for_many(instance) {
            return Some(DeferralReason::InstanceCountUnknown);
        }
        if let Some(reason) = self.waiting.reason(&template.provider) {
            return Some(reason);
        }
        if self.walk.is_deferred(self.resource_visit(instance.module, instance.resource)) {
            return Some(DeferralReason::DeferredPrerequisite);
        }
        self.imports_later(address).then_some(DeferralReason::ResourceConfigUnknown)
    }

    /// Whether an instance is to take over an object, but which one is not known yet.
    fn imports_later(&self, address: &ResourceInstance) -> bool {
        self.later_imports.concerns(address) && self.state.object(address, None).is_none()
    }

    /// Leaves an instance of the configuration to a later run whose provider cannot even be asked.
    pub(super) fn leave_instance(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        template: &Template,
        reason: DeferralReason,
    ) {
        let evaluated = match self.options.mode {
            Mode::Normal => self.evaluate_instance(instance, &address, template),
            Mode::RefreshOnly | Mode::Destroy => None,
        };
        let Some(evaluated) = evaluated else {
            let failed = self.options.mode == Mode::Normal;
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
        let source = match self.imports_later(&subject.address) {
            true => Source::Unknown,
            false => Source::Known,
        };
        let place = subject.instance.filter(|_| subject.deposed.is_none());
        let open_steps = place.map(|one| self.world.open_steps(one.module, one.resource)).unwrap_or_default();
        if let Some(instance) = place {
            self.left_of.insert(instance, self.deferred.len());
        }
        let change = self.change(subject, draft);
        self.deferred.push(DeferredChange { reason, change, open_steps, source });
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
        self.deferred.push(DeferredChange { reason, change, open_steps, source: Source::Known });
        self.end_instance(instance, Outcome::Deferred);
    }

    /// Keeps deposed objects whose instance gets a new object only in a later run: one of them may be the only object that works
    /// (OD-07).
    pub(super) fn keep_deposed_without_replacement(&mut self) {
        let creates = |change: &ResourceChange| change.action == Action::Create || change.action.is_replace();
        let unmade = self.deferred.iter().map(|deferred| &deferred.change).filter(|change| creates(change));
        let unmade: HashSet<ResourceInstance> = unmade.map(|change| change.address.clone()).collect();
        if !unmade.is_empty() {
            self.defer_changes(|_, change| change.deposed.is_some() && unmade.contains(&change.address));
        }
    }

    /// Leaves changes to a later run because of others that are left to it.
    fn defer_changes(&mut self, is_meant: impl Fn(usize, &ResourceChange) -> bool) {
        let reason = DeferralReason::DeferredPrerequisite;
        for (at, change) in std::mem::take(&mut self.changes).into_iter().enumerate() {
            if is_meant(at, &change) {
                self.deferred.push(DeferredChange { reason, change, open_steps: Vec::new(), source: Source::Known });
            } else {
                self.changes.push(change);
            }
        }
    }

    /// An object whose deletion is left to a later run still needs what it depends on, so that stays too.
    pub(super) fn keep_what_is_needed(&mut self) {
        let goes = |change: &ResourceChange| change.action == Action::Delete;
        let stays = self.deferred.iter().filter(|deferred| goes(&deferred.change));
        let mut open: Vec<ConfigResource> = stays.flat_map(|deferred| self.needs(&deferred.change)).collect();
        if open.is_empty() {
            return;
        }
        let mut deletions: HashMap<ConfigResource, Vec<usize>> = HashMap::new();
        for (at, change) in self.changes.iter().enumerate().filter(|(_, change)| goes(change)) {
            deletions.entry(change.address.config_resource()).or_default().push(at);
        }
        let mut needed: HashSet<usize> = HashSet::new();
        while let Some(resource) = open.pop() {
            for at in deletions.remove(&resource).unwrap_or_default() {
                open.extend(self.needs(&self.changes[at]));
                needed.insert(at);
            }
        }
        self.defer_changes(|at, _| needed.contains(&at));
    }

    fn needs(&self, change: &ResourceChange) -> Vec<ConfigResource> {
        let record = self.state.object(&change.address, change.deposed.as_ref());
        record.map(|record| record.dependencies.iter().cloned().collect()).unwrap_or_default()
    }
}
