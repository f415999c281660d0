//! Objects that the state has and the configuration does not: they go (PL-03).

use std::sync::Arc;

use groma_address::{ConfigResource, InstanceKey, Mode as ResourceMode, ModulePath, ProviderConfig, ResourceInstance};
use groma_config::RemovedFrom;
use groma_diagnostics::Span;
use groma_hcl::ExpressionKind;
use groma_provider::{Checked, Schema};
use groma_state::{DeposedKey, ObjectRecord};

use super::conversation::{Conversation, Parting, Prevention, Purpose};
use super::evaluated::{as_written, prevention};
use super::event::{ManagedSubject, Task};
use super::gone_module::GoneModuleScope;
use super::left_over::LeftOver;
use super::managed::hold;
use super::planner::Planner;
use crate::options::Refresh;
use crate::plan::{Action, ActionReason, DeferralReason, Mode, ResourceChange};
use crate::walk::Outcome;
use crate::world::{Expansion, InstanceScope, Repetition};

/// The relation between an address of the state and the configuration.
enum Standing {
    /// The configuration has the instance, and it was planned.
    Configured,
    /// The expression that decides about it could not be evaluated.
    Undetermined,
    /// The configuration has no such instance, for this reason.
    Gone(ActionReason),
}

impl Planner<'_> {
    /// Queues every object of the state that the walk did not come by.
    pub(super) fn collect_orphans(&mut self) {
        let mut found = Vec::new();
        let mut forgotten_data = Vec::new();
        for view in self.state.iter() {
            let address = view.address();
            let chosen = self.included.as_ref().is_none_or(|included| match self.options.mode {
                Mode::Destroy => {
                    let current = view.record.current.as_ref();
                    included.chosen(&address)
                        || current
                            .is_some_and(|object| included.takes_along(&self.graph, &address, &object.dependencies))
                }
                Mode::Normal | Mode::RefreshOnly => included.left_over(&self.graph, &address),
            });
            if !chosen || !matches!(self.standing(&address), Standing::Gone(_)) {
                continue;
            }
            if address.resource.mode != ResourceMode::Managed {
                forgotten_data.push(address);
                continue;
            }
            if view.record.current.is_some() && !self.lost.contains_key(&address) {
                found.push((address.clone(), None));
            }
            found.extend(view.record.deposed.keys().map(|key| (address.clone(), Some(key.clone()))));
        }
        for address in forgotten_data {
            self.state.remove_instance(&address);
        }
        for (address, deposed) in found {
            self.queue(Task::Orphan(address, deposed));
        }
    }

    /// Whether there is a block for it, in a module of whatever instances.
    fn is_written(&self, address: &ResourceInstance) -> bool {
        self.graph.find_resource(&address.config_resource()).is_some()
    }

    /// Returns the reason for destroying an object whose block is gone.
    fn unwritten(&self, address: &ResourceInstance) -> ActionReason {
        match self.moves.previous.contains_key(address) {
            true => ActionReason::DeleteBecauseNoMoveTarget,
            false => ActionReason::DeleteBecauseNoResourceConfig,
        }
    }

    fn standing(&self, address: &ResourceInstance) -> Standing {
        if self.written.contains(address) {
            return Standing::Configured;
        }
        let mut module = crate::world::ModuleId::ROOT;
        for step in address.module.steps() {
            let config = &self.world.static_module(module).config;
            let Some(at) = config.calls.get_index_of(&step.name) else {
                return Standing::Gone(self.unwritten(address));
            };
            let call = &self.world.module(module).calls[at];
            if matches!(call.expansion, Expansion::Pending | Expansion::Unknown) {
                return Standing::Undetermined;
            }
            match call.expansion.position(&step.key).and_then(|position| call.instances.get(position)) {
                Some(id) => module = *id,
                None if self.is_written(address) => return Standing::Gone(ActionReason::DeleteBecauseNoModule),
                None => return Standing::Gone(self.unwritten(address)),
            }
        }
        let Some(number) = self.resource_number(module, &address.resource) else {
            return Standing::Gone(self.unwritten(address));
        };
        let expansion = &self.world.module(module).resources[number as usize].expansion;
        if expansion.position(&address.key).is_some() {
            return Standing::Configured;
        }
        let config = &self.world.static_module(module).config;
        let is_switched =
            config.resources.get(&address.resource).is_some_and(|block| block.lifecycle.enabled.is_some());
        match (expansion, &address.key) {
            (Expansion::Pending | Expansion::Unknown, _) => Standing::Undetermined,
            (Expansion::Count(_), InstanceKey::Int(_)) => Standing::Gone(ActionReason::DeleteBecauseCountIndex),
            (Expansion::ForEach(_), InstanceKey::String(_)) => Standing::Gone(ActionReason::DeleteBecauseEachKey),
            (_, InstanceKey::None) if is_switched => Standing::Gone(ActionReason::DeleteBecauseEnabledFalse),
            _ => Standing::Gone(ActionReason::DeleteBecauseWrongRepetition),
        }
    }

    pub(super) async fn start_orphan(&mut self, address: ResourceInstance, deposed: Option<DeposedKey>) {
        let Some((left_over, reason)) = self.left_over(&address, deposed) else {
            return self.end_lost(&address, Outcome::Done);
        };
        let (subject, talk) = left_over.into_talk(Arc::clone(&self.session.hooks));
        if self.options.mode == Mode::Normal && self.is_forgotten(&address) {
            return self.forget(subject, talk, reason).await;
        }
        self.talk(hold(subject, talk)).await;
    }

    /// Returns the call to plan an orphan with, and the reason for destroying it; `None` if that is impossible.
    fn left_over(
        &mut self,
        address: &ResourceInstance,
        deposed: Option<DeposedKey>,
    ) -> Option<(LeftOver, Option<ActionReason>)> {
        let record = self.state.object(address, deposed.as_ref()).cloned()?;
        let config = self.state.provider(address, deposed.as_ref()).cloned()?;
        let forget = self.is_forgotten(address);
        let left = self.waiting.reason(&config).filter(|_| !forget);
        if let Some(reason) = left.filter(|_| self.waiting.is_unready(&config)) {
            self.leave_orphan(address.clone(), deposed, config, reason);
            return None;
        }
        let (provider, schema) = self.manager_of_orphan(address, &config)?;
        let reason = match (self.standing(address), self.options.mode, &deposed) {
            (Standing::Gone(reason), Mode::Normal, None) => Some(reason),
            _ => None,
        };
        let parting = self.parting(address, &record);
        let prevention = if deposed.is_none() { self.prevention(address) } else { Prevention::None };
        let purpose = match self.options.mode {
            Mode::RefreshOnly => Purpose::Look,
            Mode::Normal if forget => Purpose::Look,
            Mode::Normal | Mode::Destroy => Purpose::Delete(reason),
        };
        let left_over = LeftOver {
            address: address.clone(),
            deposed,
            config: Arc::new(config),
            provider,
            schema,
            create_before_destroy: record.create_before_destroy || self.block_creates_first(address),
            record,
            span: Span::NONE,
            purpose,
            parting,
            prevention,
            // Forgotten objects are not refreshed.
            refresh: if forget { Refresh::Trust } else { self.options.refresh },
            deferral: self.options.deferral,
            left,
        };
        Some((left_over, reason))
    }

    /// Returns the provider of an object without a block and its schema, or the reason why there is none.
    fn manager_of_orphan(
        &mut self,
        address: &ResourceInstance,
        config: &ProviderConfig,
    ) -> Option<(Arc<Checked>, Arc<Schema>)> {
        let Some(provider) = self.providers.configured(config) else {
            // After another error, that may be the reason why the provider is not configured.
            if !self.is_beside_error {
                let problem = self.no_manager(config, address, Span::NONE);
                self.evaluation.diagnostics.push(problem);
            }
            return None;
        };
        match self.providers.schema(&config.provider, &address.resource, Span::NONE) {
            Ok(schema) => Some((provider, schema)),
            Err(problems) => {
                self.evaluation.diagnostics.append(problems);
                None
            }
        }
    }

    /// Leaves an object to a later run whose provider cannot even be asked.
    fn leave_orphan(
        &mut self,
        address: ResourceInstance,
        deposed: Option<DeposedKey>,
        config: ProviderConfig,
        reason: DeferralReason,
    ) {
        let schema = match self.providers.schema(&config.provider, &address.resource, Span::NONE) {
            Ok(schema) => schema,
            Err(problems) => return self.evaluation.diagnostics.append(problems),
        };
        let config_value = schema.block.null_value();
        let subject = ManagedSubject {
            instance: None,
            address,
            deposed,
            provider: Arc::new(config),
            schema,
            create_before_destroy: false,
            is_kept: false,
            undecided: false,
            outcome: Outcome::Deferred,
            importing: None,
        };
        self.leave_unasked(&subject, &config_value, reason);
    }

    /// Returns the treatment of an orphan: by its block if there is one, by a `removed` block,
    /// or by its record.
    fn parting(&self, address: &ResourceInstance, record: &ObjectRecord) -> Parting {
        let block = self.graph.block(&address.config_resource());
        let destroy = block.and_then(|block| block.lifecycle.destroy.as_ref());
        match destroy.map(|destroy| &destroy.kind) {
            Some(ExpressionKind::Bool(true)) => Parting::Destroyed,
            Some(ExpressionKind::Bool(false)) => Parting::Kept(ActionReason::ForgotBecauseLifecycleDestroyInConfig),
            None if block.is_some() || self.removal(address).is_some() => Parting::Destroyed,
            // The expression cannot be evaluated for an instance that is gone.
            _ if record.is_kept() => Parting::Kept(ActionReason::ForgotBecauseLifecycleDestroyInState),
            _ => Parting::Destroyed,
        }
    }

    /// Whether a block that is still there forbids the end of an instance that it has lost (PL-24).
    fn prevention(&mut self, address: &ResourceInstance) -> Prevention {
        let Some(block) = self.graph.block(&address.config_resource()) else { return Prevention::None };
        let header = block.header_span;
        let lifecycle = Arc::clone(&block.lifecycle);
        let Some(prevent) = &lifecycle.prevent_destroy else { return Prevention::None };
        let repetition = as_written(block, Repetition::of_lost(&address.key));
        let functions = Arc::clone(&self.evaluation.functions);
        if let Some(module) = self.world.find(&address.module) {
            let scope = InstanceScope::new(&self.world, module, &functions).repeated(&repetition);
            return prevention(Some(prevent), header, &mut self.evaluation, &scope);
        }
        let Some(scope) = GoneModuleScope::new(&self.world, &functions, &address.module) else {
            return Prevention::Undecided(prevent.span);
        };
        prevention(Some(prevent), header, &mut self.evaluation, &scope.repeated(&repetition))
    }

    /// Whether the block of an instance that is gone has its replacements created first (OD-05), as far as that does not depend on
    /// the instance.
    fn block_creates_first(&self, address: &ResourceInstance) -> bool {
        let found = self.graph.find_resource(&address.config_resource());
        found.is_some_and(|(index, node)| self.is_forced_to_create_first(index, node))
    }

    /// Whether a `removed` block says that the object stays (PL-25).
    fn is_forgotten(&self, address: &ResourceInstance) -> bool {
        self.removal(address) == Some(false)
    }

    /// Whether a `removed` block has the object destroyed, if one speaks of it. Of several about the same address the first one counts.
    fn removal(&self, address: &ResourceInstance) -> Option<bool> {
        let written = address.config_resource();
        let mut seen: Vec<RemovedFrom> = Vec::new();
        for (_, module) in self.graph.modules() {
            for removed in &module.config.removed {
                let named = within(module.path(), &removed.from);
                let is_meant = match &named {
                    RemovedFrom::Module(path) => path.contains(&written.module),
                    RemovedFrom::Resource(resource) => *resource == written,
                };
                if !is_meant || seen.contains(&named) {
                    continue;
                }
                if !removed.destroy {
                    return Some(false);
                }
                seen.push(named);
            }
        }
        (!seen.is_empty()).then_some(true)
    }

    async fn forget(&mut self, subject: ManagedSubject, talk: Conversation, reason: Option<ActionReason>) {
        let conversed = talk.hold().await;
        let failed = conversed.diagnostics.has_errors();
        self.evaluation.diagnostics.append(conversed.diagnostics);
        let Some(prior) = conversed.prior.filter(|_| !failed) else { return };
        let null = subject.schema.block.null_value();
        self.changes.push(ResourceChange {
            previous_address: self.moves.previous.get(&subject.address).cloned().map(Box::new),
            address: subject.address,
            deposed: subject.deposed,
            provider: subject.provider,
            schema: subject.schema,
            action: Action::Forget,
            reason,
            before: prior.value,
            after: null,
            replace_paths: Vec::new(),
            planned_private: Arc::default(),
            planned_identity: None,
            create_before_destroy: false,
            importing: None,
        });
    }
}

/// Returns the absolute source address of a `removed` block in the module at `path`.
fn within(path: &ModulePath, from: &RemovedFrom) -> RemovedFrom {
    let absolute = |inner: &ModulePath| ModulePath::from_names(path.steps().iter().chain(inner.steps()).cloned());
    match from {
        RemovedFrom::Module(inner) => RemovedFrom::Module(absolute(inner)),
        RemovedFrom::Resource(resource) => RemovedFrom::Resource(ConfigResource {
            module: absolute(&resource.module),
            resource: resource.resource.clone(),
        }),
    }
}
