//! Data resources are read while planning where that is possible (PL-06), and ephemeral ones are opened.

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ResourceInstance};
use groma_provider::{Checked, planned_unknown};
use groma_state::CheckStatus;
use groma_value::{Marks, Value};

use super::event::{Event, Instance};
use super::planner::Planner;
use crate::evaluation::outcome_of;
use crate::hooks::EphemeralPhase;
use crate::options::Deferral;
use crate::plan::{Action, ActionReason, DeferralReason, Mode, ResourceChange};
use crate::reading::{DataRead, DataTalk};
use crate::record::{self, Circumstances, Object};
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::InstanceScope;

impl Planner<'_> {
    pub(super) async fn start_data(&mut self, instance: Instance, address: ResourceInstance, template: Arc<Template>) {
        if self.options.mode == Mode::Destroy {
            return self.start_remaining_data(instance, address, template).await;
        }
        let Some(config) = self.data_config(instance, &address, &template) else {
            return self.end_instance(instance, Outcome::Failed);
        };
        if let Some(reason) = self.deferral(instance, &address, &template) {
            return self.leave_data(instance, address, &template, &config, reason);
        }
        let Some(provider) = self.configured(&template, instance) else { return };
        let reason = if !config.is_wholly_known() {
            Some(ActionReason::ReadBecauseConfigUnknown)
        } else {
            self.dependency_pending(instance).then_some(ActionReason::ReadBecauseDependencyPending)
        };
        if let Some(reason) = reason {
            return self.defer_read(instance, address, &template, config, reason);
        }
        self.read_now(instance, address, (provider, &template), config, self.options.deferral).await;
    }

    /// Has a data resource read by its provider.
    pub(super) async fn read_now(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        (provider, template): (Arc<Checked>, &Template),
        config: Value,
        deferral: Deferral,
    ) {
        let talk = DataTalk {
            address,
            provider,
            schema: Arc::clone(&template.schema),
            body: Arc::clone(&template.body),
            span: self.body_span(instance),
            config,
            meta: template.meta.clone(),
            deferral,
            hooks: Arc::clone(&self.session.hooks),
        };
        let talk = async move {
            talk.hooks.read_start(&talk.address);
            Event::Data(instance, Box::new(talk.hold().await))
        };
        self.talk(talk).await;
    }

    pub(super) async fn start_ephemeral(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        template: Arc<Template>,
    ) {
        let Some(config) = self.data_config(instance, &address, &template) else {
            return self.end_instance(instance, Outcome::Failed);
        };
        let unknown = Value::unknown(template.schema.block.implied_type().clone()).with_marks(&Marks::EPHEMERAL);
        if self.deferral(instance, &address, &template).is_some() {
            self.settle(instance, unknown);
            return self.end_instance(instance, Outcome::Deferred);
        }
        let Some(provider) = self.configured(&template, instance) else { return };
        if !config.is_wholly_known() {
            self.settle(instance, unknown);
            return self.end_instance(instance, Outcome::Done);
        }
        let span = self.body_span(instance);
        let (schema, body) = (Arc::clone(&template.schema), Arc::clone(&template.body));
        let deferral = self.options.deferral;
        let meta = template.meta.clone();
        let talk = DataTalk {
            address,
            provider,
            schema,
            body,
            span,
            config,
            meta,
            deferral,
            hooks: Arc::clone(&self.session.hooks),
        };
        let talk = async move {
            talk.hooks.ephemeral_start(&talk.address, EphemeralPhase::Open);
            Event::Data(instance, Box::new(talk.hold().await))
        };
        self.talk(talk).await;
    }

    pub(super) fn settle(&mut self, instance: Instance, value: Value) {
        let data = &mut self.world.module_mut(instance.module).resources[instance.resource as usize];
        data.settle(instance.position, value);
    }

    fn data_config(&mut self, instance: Instance, address: &ResourceInstance, template: &Template) -> Option<Value> {
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let (_, resource) = config.resources.get_index(instance.resource as usize)?;
        let repetition = self.repetition(instance);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
        let status = match self.stands_for_many(instance) {
            true => CheckStatus::Pass,
            false => self.evaluation.preconditions(&resource.lifecycle, address, &scope),
        };
        if outcome_of(status) == Outcome::Failed {
            return None;
        }
        let value = self.evaluation.instance(&template.body, address, &scope)?;
        if address.resource.mode == ResourceMode::Data
            && let Some(problem) = template.ephemeral_misuse(&value, address)
        {
            self.evaluation.diagnostics.push(problem);
            return None;
        }
        Some(value)
    }

    fn defer_read(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        template: &Template,
        config: Value,
        reason: ActionReason,
    ) {
        let after = planned_unknown(&template.schema.block, &config);
        self.settle(instance, after.clone());
        // What it was is no longer what it is.
        self.state.remove(&address, None);
        // Who only looks leaves nothing to be read.
        if self.options.mode != Mode::RefreshOnly {
            self.plan_read(instance, address.clone(), template, after.clone(), reason);
        }
        // A condition that fails for any result stops the plan.
        let status = self.postconditions(instance, &address, &after);
        self.end_instance(instance, outcome_of(status));
    }

    /// A change of the plan: the data source is read by apply.
    pub(super) fn plan_read(
        &mut self,
        instance: Instance,
        address: ResourceInstance,
        template: &Template,
        after: Value,
        reason: ActionReason,
    ) {
        self.change_of.insert(instance, self.changes.len());
        let change = self.read_change(address, template, after, Some(reason));
        self.changes.push(change);
    }

    pub(super) fn data_read(&mut self, instance: Instance, read: DataRead) {
        if self.options.mode == Mode::Destroy && read.address.resource.mode == ResourceMode::Data {
            return self.remaining_data_read(instance, read);
        }
        if let Some(check) = self.check_around(instance).filter(|_| read.deferred.is_none()) {
            return self.checked_data_read(instance, &check, read);
        }
        self.evaluation.diagnostics.append(read.diagnostics);
        read.open.into_iter().for_each(|open| self.ephemerals.push(open));
        let Some(value) = read.value else {
            if read.address.resource.mode == ResourceMode::Ephemeral {
                self.session.hooks.ephemeral_errored(&read.address, EphemeralPhase::Open, read.elapsed);
            }
            return self.end_instance(instance, Outcome::Failed);
        };
        if let Some(reason) = read.deferred {
            return self.read_later(instance, read.address, reason);
        }
        self.settle(instance, value.clone());
        if read.address.resource.mode == ResourceMode::Ephemeral {
            self.session.hooks.ephemeral_complete(&read.address, EphemeralPhase::Open, read.elapsed);
        }
        if read.address.resource.mode == ResourceMode::Data {
            self.session.hooks.read_complete(&read.address, &value);
            self.record_data(instance, &read.address, &value);
        }
        let status = self.postconditions(instance, &read.address, &value);
        self.end_instance(instance, outcome_of(status));
    }

    /// The provider could not read, or open, what it was asked for.
    pub(super) fn read_later(&mut self, instance: Instance, address: ResourceInstance, reason: DeferralReason) {
        let Some(template) = self.template_of(instance) else { return };
        if address.resource.mode == ResourceMode::Ephemeral {
            let unknown = Value::unknown(template.schema.block.implied_type().clone()).with_marks(&Marks::EPHEMERAL);
            self.settle(instance, unknown);
            return self.end_instance(instance, Outcome::Deferred);
        }
        match self.data_config(instance, &address, &template) {
            Some(config) => self.leave_data(instance, address, &template, &config, reason),
            None => self.end_instance(instance, Outcome::Failed),
        }
    }

    pub(super) fn record_data(&mut self, instance: Instance, address: &ResourceInstance, value: &Value) {
        let Some(template) = self.template_of(instance) else { return };
        let object = Object { value: value.clone(), private: Arc::default(), identity: None };
        match record::encode(&template.schema, &object, Circumstances::default()) {
            Ok(record) => {
                self.state.insert(address, None, &template.provider, Arc::new(record));
            }
            Err(problem) => self.evaluation.diagnostics.push(record::unrecordable(address, &problem)),
        }
    }
}

impl Planner<'_> {
    /// The change of a data resource that is not read now.
    pub(super) fn read_change(
        &self,
        address: ResourceInstance,
        template: &Template,
        after: Value,
        reason: Option<ActionReason>,
    ) -> ResourceChange {
        ResourceChange {
            previous_address: self.moves.previous.get(&address).cloned().map(Box::new),
            address,
            deposed: None,
            provider: Arc::clone(&template.provider),
            schema: Arc::clone(&template.schema),
            action: Action::Read,
            reason,
            before: template.schema.block.null_value(),
            after,
            replace_paths: Vec::new(),
            planned_private: Arc::default(),
            planned_identity: None,
            create_before_destroy: false,
            importing: None,
        }
    }
}
