//! Planning the instances of managed resources.

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ResourceInstance};
use groma_diagnostics::Span;
use groma_provider::Checked;
use groma_state::{CheckStatus, DeposedKey, ObjectRecord};
use groma_value::Value;

use super::conversation::{Conversation, Conversed, Parting, Prevention, Purpose};
use super::draft::Draft;
use super::evaluated::Evaluated;
use super::event::{Event, Instance, ManagedEvent, ManagedSubject};
use super::left_over::LeftOver;
use super::planner::Planner;
use crate::config_graph::{ModuleIndex, NodeIndex};
use crate::evaluation::{outcome_of, repetition_of};
use crate::options::Refresh;
use crate::plan::{Action, ActionReason, Generated, Mode};
use crate::record::Object;
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::Repetition;

impl Planner<'_> {
    pub(super) async fn start_instance(&mut self, instance: Instance) {
        let address = self.world.instance_address(instance.module, instance.resource, instance.position);
        let Some(template) = self.template(instance.module, instance.resource) else {
            return self.end_instance(instance, Outcome::Failed);
        };
        let Some(template) = self.choose(instance, &address, template) else { return };
        match address.resource.mode {
            ResourceMode::Managed => self.start_managed(instance, address, template).await,
            ResourceMode::Data => self.start_data(instance, address, template).await,
            ResourceMode::Ephemeral => self.start_ephemeral(instance, address, template).await,
            ResourceMode::List => self.start_list(instance, address, template).await,
        }
    }

    async fn start_managed(&mut self, instance: Instance, address: ResourceInstance, template: Arc<Template>) {
        // An instance that represents all future ones is none of the existing ones.
        let many = self.stands_for_many(instance);
        let record = self.state.object(&address, None).filter(|_| !many).cloned();
        let importing = if many { None } else { self.importing(&address) };
        let left = self.deferral(instance, &address, &template);
        if let Some(reason) = left.filter(|_| self.waiting.is_unready(&template.provider)) {
            return self.leave_instance(instance, address, &template, reason);
        }
        let Some(provider) = self.configured(&template, instance) else { return };
        let (purpose, evaluated) = self.purpose(instance, &address, &template);
        if !many && (purpose != Purpose::Look || self.options.mode != Mode::Destroy) {
            self.start_deposed(instance, &address, (&template, evaluated.parting), &provider).await;
        }
        if record.is_none() && purpose != Purpose::Change && importing.is_none() {
            let outcome = if left.is_some() { Outcome::Deferred } else { Outcome::Done };
            let outcome = worse(outcome, self.absent(instance, &address, &template));
            return self.end_instance(instance, worse(evaluated.outcome, outcome));
        }
        let subject = ManagedSubject {
            instance: Some(instance),
            address: address.clone(),
            deposed: None,
            provider: Arc::clone(&template.provider),
            schema: Arc::clone(&template.schema),
            create_before_destroy: evaluated.create_before_destroy,
            is_kept: evaluated.parting != Parting::Destroyed,
            undecided: evaluated.undecided,
            outcome: evaluated.outcome,
            importing: importing.clone(),
        };
        let (refresh, forced) = (self.refresh(instance, &address), self.forced(instance, &address));
        let talk = Conversation {
            address,
            deposed: None,
            provider,
            schema: Arc::clone(&template.schema),
            body: Some(Arc::clone(&template.body)),
            span: self.body_span(instance),
            purpose,
            config: evaluated.config,
            meta: template.meta.clone(),
            record,
            refresh,
            ignore: evaluated.ignore,
            forced,
            create_before_destroy: evaluated.create_before_destroy,
            prevention: evaluated.prevention,
            parting: evaluated.parting,
            importing,
            generating: None,
            deferral: self.options.deferral,
            left,
            creates: self.creation(instance),
            hooks: Arc::clone(&self.session.hooks),
        };
        self.talk(hold(subject, talk)).await;
    }

    /// Returns the question to ask about an instance, given its configuration.
    fn purpose(
        &mut self,
        instance: Instance,
        address: &ResourceInstance,
        template: &Arc<Template>,
    ) -> (Purpose, Evaluated) {
        match self.options.mode {
            Mode::Normal => match self.evaluate_instance(instance, address, template) {
                Some(evaluated) => (Purpose::Change, evaluated),
                // The object is read all the same, so that people see what changed outside.
                None => (Purpose::Look, Evaluated::nothing(template, Outcome::Failed)),
            },
            Mode::Destroy if self.stays(instance, address) => {
                (Purpose::Look, Evaluated::nothing(template, Outcome::Done))
            }
            Mode::Destroy => (Purpose::Delete(None), self.unevaluated(instance, template)),
            Mode::RefreshOnly => (Purpose::Look, self.looked_at(instance, address, template)),
        }
    }

    /// Ends an instance without an object where none is to be created.
    fn absent(&mut self, instance: Instance, address: &ResourceInstance, template: &Template) -> Outcome {
        if self.options.mode != Mode::RefreshOnly {
            return Outcome::Done;
        }
        let unknown = Value::unknown(template.schema.block.implied_type().clone());
        outcome_of(self.postconditions(instance, address, &unknown))
    }

    /// Returns the reason for a forced replacement of an instance.
    fn forced(&mut self, instance: Instance, address: &ResourceInstance) -> Option<ActionReason> {
        if self.triggered(instance) {
            return Some(ActionReason::ReplaceByTriggers);
        }
        self.options.replace.contains(address).then_some(ActionReason::ReplaceByRequest)
    }

    /// Starts planning the deposed objects of an instance.
    async fn start_deposed(
        &mut self,
        instance: Instance,
        address: &ResourceInstance,
        (template, parting): (&Template, Parting),
        provider: &Arc<Checked>,
    ) {
        let entry = self.state.get(address);
        let deposed: Vec<(DeposedKey, Arc<ObjectRecord>)> = entry
            .map(|entry| entry.deposed.iter().map(|(key, object)| (key.clone(), Arc::clone(object))).collect())
            .unwrap_or_default();
        for (key, record) in deposed {
            let own = record.provider().filter(|own| **own != template.provider);
            let config = own.unwrap_or(&template.provider).clone();
            let provider = match own {
                None => Some(Arc::clone(provider)),
                Some(own) => self.providers.configured(own),
            };
            let Some(provider) = provider else {
                let problem = self.no_manager(&config, address, self.header(instance));
                self.evaluation.diagnostics.push(problem);
                continue;
            };
            let left_over = LeftOver {
                address: address.clone(),
                deposed: Some(key),
                record,
                left: self.waiting.reason(&config),
                config,
                provider,
                schema: Arc::clone(&template.schema),
                create_before_destroy: false,
                span: self.body_span(instance),
                purpose: if self.options.mode == Mode::RefreshOnly { Purpose::Look } else { Purpose::Delete(None) },
                parting,
                // What a replacement has left behind is what its block does not speak of any more.
                prevention: Prevention::None,
                refresh: self.options.refresh,
                deferral: self.options.deferral,
            };
            let (subject, talk) = left_over.into_talk(Arc::clone(&self.session.hooks));
            self.talk(hold(subject, talk)).await;
        }
    }

    /// Whether an object is only read while others are destroyed, because a chosen one depends on it.
    fn stays(&self, instance: Instance, address: &ResourceInstance) -> bool {
        let (module, node) = self.node_of(instance);
        self.included.as_ref().is_some_and(|included| !included.instance(module, node, address))
    }

    /// Whether an object is read first: what goes along with a chosen one is not.
    fn refresh(&self, instance: Instance, address: &ResourceInstance) -> Refresh {
        let (module, node) = self.node_of(instance);
        match &self.included {
            Some(included) if self.options.mode == Mode::Destroy && !included.reads(module, node, address) => {
                Refresh::Trust
            }
            _ => self.options.refresh,
        }
    }

    fn node_of(&self, instance: Instance) -> (ModuleIndex, NodeIndex) {
        let module = self.world.static_module(instance.module);
        (self.world.module(instance.module).of, module.resource(instance.resource as usize))
    }

    /// Returns the provider of an instance. Ends the instance if there is none.
    pub(super) fn configured(&mut self, template: &Template, instance: Instance) -> Option<Arc<Checked>> {
        if let Some(provider) = self.providers.configured(&template.provider) {
            return Some(provider);
        }
        // Why it could not be configured has been said.
        if !self.evaluation.diagnostics.has_errors() {
            let address = self.world.instance_address(instance.module, instance.resource, instance.position);
            let problem = self.no_manager(&template.provider, &address, self.header(instance));
            self.evaluation.diagnostics.push(problem);
        }
        self.end_instance(instance, Outcome::Failed);
        None
    }

    pub(super) fn header(&self, instance: Instance) -> Span {
        let config = &self.world.static_module(instance.module).config;
        config
            .resources
            .get_index(instance.resource as usize)
            .map(|(_, resource)| resource.header_span)
            .unwrap_or_default()
    }

    /// Returns the span for problems that a provider has with the arguments as a whole.
    pub(super) fn body_span(&self, instance: Instance) -> Span {
        let config = &self.world.static_module(instance.module).config;
        let block = config.resources.get_index(instance.resource as usize);
        block.map(|(_, resource)| resource.beginning()).unwrap_or_default()
    }

    /// Takes in what a conversation about a managed object found out.
    pub(super) fn managed(&mut self, event: ManagedEvent) {
        let ManagedEvent { mut subject, conversed } = event;
        let Conversed { generated, previous, prior, gone, mut draft, diagnostics } = conversed;
        if let (Some(text), Some(importing)) = (generated, &mut subject.importing) {
            self.generated.push(Generated { id: importing.id().map(str::to_owned), text: text.clone() });
            importing.generated = Some(text);
        }
        if let (Some(found), Some(importing)) = (&prior, &mut subject.importing) {
            importing.complete(found.identity.as_ref());
        }
        let failed = diagnostics.has_errors();
        self.evaluation.diagnostics.append(diagnostics);
        if !failed {
            self.note_drift(&subject, &previous, prior.as_ref(), gone);
            self.note_prior(&subject, &previous, prior.as_ref());
            let action = draft.as_ref().filter(|draft| draft.deferred.is_none()).map(|draft| draft.action);
            self.note_standing(&subject, action);
        }
        let mut outcome = if failed { Outcome::Failed } else { subject.outcome };
        let value = seen_by_others(&subject, draft.as_ref(), prior.as_ref());
        if let (Some(instance), Some(value)) = (subject.instance, &value) {
            let data = &mut self.world.module_mut(instance.module).resources[instance.resource as usize];
            data.settle(instance.position, value.clone());
            let acts = draft.as_ref().is_some_and(|draft| draft.action != Action::NoOp);
            data.pending |= acts;
        }
        if let Some(draft) = draft.take_if(|draft| draft.deferred.is_some())
            && let Some(reason) = draft.deferred
        {
            self.note_deferred(&subject, draft, reason);
            outcome = worse(outcome, Outcome::Deferred);
        }
        let mut undecided = subject.undecided;
        if let (Some(instance), Some(value), Outcome::Done) = (subject.instance, &value, outcome)
            && self.is_judged(draft.as_ref())
        {
            let status = self.postconditions(instance, &subject.address, value);
            outcome = outcome_of(status);
            undecided |= status == CheckStatus::Unknown;
        }
        if let Some(draft) = draft {
            if undecided && draft.action == Action::NoOp {
                self.undecided.push(subject.address.clone());
            }
            self.note_change(&subject, draft);
        }
        match subject.instance {
            Some(instance) => self.end_instance(instance, outcome),
            None if subject.deposed.is_none() => {
                self.show_lost(&subject.address, value);
                self.end_lost(&subject.address, outcome);
            }
            None => {}
        }
    }

    /// Whether postconditions are held against what came of an object.
    fn is_judged(&self, draft: Option<&Draft>) -> bool {
        match self.options.mode {
            Mode::Normal => draft.is_some(),
            Mode::RefreshOnly => true,
            Mode::Destroy => false,
        }
    }

    pub(super) fn postconditions(
        &mut self,
        instance: Instance,
        address: &ResourceInstance,
        value: &Value,
    ) -> CheckStatus {
        let place = (instance.module, instance.resource, instance.position);
        self.evaluation.postconditions(&self.world, place, address, value)
    }

    /// Returns the values of `count` and `each` for an instance.
    pub(super) fn repetition(&self, instance: Instance) -> Repetition {
        repetition_of(&self.world, instance.module, instance.resource, instance.position)
    }
}

/// Returns the value of an object that references see.
fn seen_by_others(subject: &ManagedSubject, draft: Option<&Draft>, prior: Option<&Object>) -> Option<Value> {
    let stays = |draft: &&Draft| !matches!(draft.action, Action::Delete | Action::Forget);
    match draft.filter(|_| subject.instance.is_some()).filter(stays) {
        Some(draft) => Some(draft.after.clone()),
        // In a refresh-only or destroy plan, references see the current object.
        None => prior.map(|prior| prior.value.clone()),
    }
}

/// The worse of two outcomes.
fn worse(one: Outcome, other: Outcome) -> Outcome {
    match (one, other) {
        (Outcome::Failed, _) | (_, Outcome::Failed) => Outcome::Failed,
        (Outcome::Deferred, _) | (_, Outcome::Deferred) => Outcome::Deferred,
        (Outcome::Done, Outcome::Done) => Outcome::Done,
    }
}

pub(super) async fn hold(subject: ManagedSubject, talk: Conversation) -> Event {
    let conversed = talk.hold().await;
    Event::Managed(Box::new(ManagedEvent { subject, conversed }))
}
