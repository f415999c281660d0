//! Planning the instances of managed resources.

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ResourceInstance};
use groma_config::IgnoreChanges;
use groma_diagnostics::Span;
use groma_provider::Checked;
use groma_state::{CheckStatus, DeposedKey, ObjectRecord};
use groma_value::{Kind, Value};

use super::converse::{Conversation, Conversed, Parting, Purpose};
use super::event::{Event, Instance, ManagedEvent, ManagedSubject};
use super::ignore::{Ignore, relative_path};
use super::left_over::LeftOver;
use super::planner::Planner;
use crate::config_graph::{ModuleIndex, NodeIndex};
use crate::evaluation::{Evaluation, outcome_of, repetition_of};
use crate::options::Refresh;
use crate::plan::{Action, ActionReason, Generated, Mode};
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::{InstanceScope, Repetition};

/// What evaluating an instance's block gave.
pub(super) struct Evaluated {
    pub(super) config: Value,
    ignore: Ignore,
    pub(super) create_before_destroy: bool,
    prevent_destroy: Option<Span>,
    parting: Parting,
    undecided: bool,
    outcome: Outcome,
}

impl Evaluated {
    /// Of a block that could not be evaluated, or plays no part.
    fn nothing(template: &Template, outcome: Outcome) -> Self {
        Self {
            config: template.schema.block.null_value(),
            ignore: Ignore::Nothing,
            create_before_destroy: false,
            prevent_destroy: None,
            parting: Parting::Destroyed,
            undecided: false,
            outcome,
        }
    }
}

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
        // What stands for all that there will be is none of those that there are.
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
            record,
            refresh,
            ignore: evaluated.ignore,
            forced,
            create_before_destroy: evaluated.create_before_destroy,
            prevent_destroy: evaluated.prevent_destroy,
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

    /// What an instance is talked about for, with what its configuration says.
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

    /// What comes of an instance without an object, where none is to be made.
    fn absent(&mut self, instance: Instance, address: &ResourceInstance, template: &Template) -> Outcome {
        if self.options.mode != Mode::RefreshOnly {
            return Outcome::Done;
        }
        let unknown = Value::unknown(template.schema.block.implied_type().clone());
        outcome_of(self.postconditions(instance, address, &unknown))
    }

    /// Why an instance is replaced whether it changes or not.
    fn forced(&mut self, instance: Instance, address: &ResourceInstance) -> Option<ActionReason> {
        if self.triggered(instance) {
            return Some(ActionReason::ReplaceByTriggers);
        }
        self.options.replace.contains(address).then_some(ActionReason::ReplaceByRequest)
    }

    /// What replacements of an instance have left behind.
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
                Some(own) => self.providers.configured(own).cloned(),
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

    /// The provider of an instance; the instance ends here when there is none.
    pub(super) fn configured(&mut self, template: &Template, instance: Instance) -> Option<Arc<Checked>> {
        if let Some(provider) = self.providers.configured(&template.provider) {
            return Some(Arc::clone(provider));
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

    /// Where problems are said to be that a provider has with the arguments as a whole.
    pub(super) fn body_span(&self, instance: Instance) -> Span {
        let config = &self.world.static_module(instance.module).config;
        let block = config.resources.get_index(instance.resource as usize);
        block.map(|(_, resource)| resource.beginning()).unwrap_or_default()
    }

    /// The lifecycle of an instance whose configuration plays no part.
    fn unevaluated(&mut self, instance: Instance, template: &Template) -> Evaluated {
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions);
        let lifecycle =
            config.resources.get_index(instance.resource as usize).map(|(_, resource)| Arc::clone(&resource.lifecycle));
        let prevent = lifecycle.as_ref().and_then(|lifecycle| lifecycle.prevent_destroy.as_ref());
        let prevented = self.evaluation.truth(prevent, &scope).unwrap_or(false);
        let destroy = lifecycle.as_ref().and_then(|lifecycle| lifecycle.destroy.as_ref());
        let parting = parting(self.evaluation.truth(destroy, &scope));
        let prevent_destroy = prevented.then(|| self.header(instance));
        Evaluated { prevent_destroy, parting, ..Evaluated::nothing(template, Outcome::Done) }
    }

    /// The same of one that is only looked at, whose preconditions are told all the same.
    fn looked_at(&mut self, instance: Instance, address: &ResourceInstance, template: &Template) -> Evaluated {
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let Some((_, resource)) = config.resources.get_index(instance.resource as usize) else {
            return Evaluated::nothing(template, Outcome::Failed);
        };
        let repetition = self.repetition(instance);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
        let outcome = outcome_of(self.evaluation.preconditions(&resource.lifecycle, address, &scope));
        Evaluated { outcome, ..self.unevaluated(instance, template) }
    }

    pub(super) fn evaluate_instance(
        &mut self,
        instance: Instance,
        address: &ResourceInstance,
        template: &Template,
    ) -> Option<Evaluated> {
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let (_, resource) = config.resources.get_index(instance.resource as usize)?;
        let lifecycle = Arc::clone(&resource.lifecycle);
        let repetition = repetition_of(&self.world, instance.module, instance.resource, instance.position);
        let functions = Arc::clone(&self.evaluation.functions);
        let scope = InstanceScope::new(&self.world, instance.module, &functions).repeated(&repetition);
        let status = match self.stands_for_many(instance) {
            // There is no instance yet of which they could hold.
            true => CheckStatus::Pass,
            false => self.evaluation.preconditions(&lifecycle, address, &scope),
        };
        if outcome_of(status) == Outcome::Failed {
            return None;
        }
        let value = self.evaluation.instance(&template.body, address, &scope)?;
        if let Some(problem) = template.ephemeral_misuse(&value, address) {
            self.evaluation.diagnostics.push(problem);
            return None;
        }
        let own = self.evaluation.truth(lifecycle.create_before_destroy.as_ref(), &scope);
        let prevent = self.evaluation.truth(lifecycle.prevent_destroy.as_ref(), &scope).unwrap_or(false);
        let parting = parting(self.evaluation.truth(lifecycle.destroy.as_ref(), &scope));
        let ignore = ignored(&mut self.evaluation, &lifecycle.ignore_changes, &scope);
        Some(Evaluated {
            config: value,
            ignore,
            create_before_destroy: self.creates_before_destroy(instance.module, instance.resource, own),
            prevent_destroy: prevent.then_some(resource.header_span),
            parting,
            undecided: status == CheckStatus::Unknown,
            outcome: Outcome::Done,
        })
    }

    /// Takes in what a conversation about a managed object found out.
    pub(super) fn managed(&mut self, event: ManagedEvent) {
        let ManagedEvent { mut subject, conversed } = event;
        let Conversed { generated, previous, prior, mut draft, diagnostics } = conversed;
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
            self.note_drift(&subject, &previous, prior.as_ref());
            self.note_prior(&subject, &previous, prior.as_ref());
            let action = draft.as_ref().filter(|draft| draft.deferred.is_none()).map(|draft| draft.action);
            self.note_standing(&subject, action);
        }
        let mut outcome = if failed { Outcome::Failed } else { subject.outcome };
        let value = match (&draft, &prior) {
            (Some(draft), _)
                if subject.instance.is_some() && !matches!(draft.action, Action::Delete | Action::Forget) =>
            {
                Some(draft.after.clone())
            }
            // While everything is looked at or destroyed, what there is now is what others see.
            (_, Some(prior)) => Some(prior.value.clone()),
            _ => None,
        };
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
        let is_judged = match self.options.mode {
            Mode::Normal => draft.is_some(),
            Mode::RefreshOnly => true,
            Mode::Destroy => false,
        };
        if let (Some(instance), Some(value), Outcome::Done) = (subject.instance, &value, outcome)
            && is_judged
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
        if let Some(instance) = subject.instance {
            self.end_instance(instance, outcome);
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

    /// What `count` and `each` mean for an instance.
    pub(super) fn repetition(&self, instance: Instance) -> Repetition {
        repetition_of(&self.world, instance.module, instance.resource, instance.position)
    }
}

/// What an instance's `destroy` argument says of its object.
fn parting(destroy: Option<bool>) -> Parting {
    match destroy {
        Some(false) => Parting::Kept(ActionReason::ForgotBecauseLifecycleDestroyInConfig),
        _ => Parting::Destroyed,
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

/// What `ignore_changes` names for one instance.
pub(crate) fn ignored(evaluation: &mut Evaluation, ignore: &IgnoreChanges, scope: &InstanceScope<'_>) -> Ignore {
    match ignore {
        IgnoreChanges::None => Ignore::Nothing,
        IgnoreChanges::All => Ignore::All,
        IgnoreChanges::Paths(paths) => Ignore::Paths(paths.iter().map(|path| relative_path(path)).collect()),
        IgnoreChanges::Expression(expression) => match evaluation.value(expression, scope) {
            Some(value) => named_paths(&value),
            None => Ignore::Nothing,
        },
    }
}

pub(super) async fn hold(subject: ManagedSubject, talk: Conversation) -> Event {
    let conversed = talk.hold().await;
    Event::Managed(Box::new(ManagedEvent { subject, conversed }))
}

/// Paths that an expression names: strings such as `tags["x"]`, or `all`.
fn named_paths(value: &Value) -> Ignore {
    let (value, _) = value.unmark_deep();
    let one = |text: &str| {
        let sources = groma_diagnostics::Sources::new();
        let file = sources.add("ignore_changes", text)?;
        let (traversal, problems) = groma_hcl::parse_traversal(&file);
        traversal.filter(|_| !problems.has_errors()).map(|traversal| relative_path(&traversal))
    };
    match value.kind() {
        Kind::String(text) if **text == *"all" => Ignore::All,
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            Ignore::Paths(items.iter().filter_map(|item| one(item.as_str()?)).collect())
        }
        _ => Ignore::Nothing,
    }
}
