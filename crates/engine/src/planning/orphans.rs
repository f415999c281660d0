//! Orphans: objects in the state that the configuration does not declare (PL-03), and deposed objects.

use std::sync::Arc;

use groma_address::{ConfigResource, InstanceKey, Mode as ResourceMode, ModulePath, ProviderConfig, ResourceInstance};
use groma_config::RemovedFrom;
use groma_diagnostics::Span;
use groma_hcl::ExpressionKind;
use groma_plan::{Action, ActionReason, DeferralReason, Mode, ResourceChange};
use groma_provider::{Checked, PlanPurpose, Schema};
use groma_state::{DeposedKey, ObjectRecord};

use super::deferral;
use super::evaluated::{self, as_written};
use super::event::{ManagedSubject, Task};
use super::expand;
use super::gone_module::GoneModuleScope;
use super::ignore::Ignore;
use super::inputs::Inputs;
use super::instances;
use super::managed::run_plan_call;
use super::managers;
use super::plan_builder::PlanBuilder;
use super::plan_call::{Disposal, Lifecycle, PlanCall, Prevention, Purpose};
use super::planner::Planner;
use crate::call_target::CallTarget;
use crate::call_target::no_meta;
use crate::evaluation::Evaluation;
use crate::hooks::Hooks;
use crate::moves::Moves;
use crate::options::{Deferral, Refresh};
use crate::walk::Outcome;
use crate::world::{Expansion, InstanceScope, Repetition, World};

/// The relation between an address of the state and the configuration.
enum Declaration {
    /// The configuration has the instance, and it was planned.
    Configured,
    /// The expression that decides about it could not be evaluated.
    Undetermined,
    /// The configuration has no such instance, for this reason.
    Gone(ActionReason),
}

/// Queues every object of the state that the walk did not visit.
pub(super) fn collect_orphans(planner: &mut Planner<'_>) {
    let mut found = Vec::new();
    let mut forgotten_data = Vec::new();
    for view in planner.state.iter() {
        let address = view.address();
        let chosen = planner.inputs.targets().is_none_or(|included| match planner.inputs.mode() {
            Mode::Destroy => {
                let current = view.record.current.as_ref();
                included.chosen(&address)
                    || current.is_some_and(|object| {
                        included.includes_dependents(planner.inputs.graph(), &address, &object.dependencies)
                    })
            }
            Mode::Normal | Mode::RefreshOnly => included.includes_orphan(planner.inputs.graph(), &address),
        });
        if !chosen || !matches!(declaration_of(planner, &address), Declaration::Gone(_)) {
            continue;
        }
        if address.resource.mode != ResourceMode::Managed {
            forgotten_data.push(address);
            continue;
        }
        if view.record.current.is_some() && planner.schedule.resource_of_orphan(&address).is_none() {
            found.push((address.clone(), None));
        }
        found.extend(view.record.deposed.keys().map(|key| (address.clone(), Some(key.clone()))));
    }
    for address in forgotten_data {
        planner.state.remove_instance(&address);
    }
    for (address, deposed) in found {
        planner.schedule.push(Task::Orphan(address, deposed));
    }
}

/// Whether the configuration has a block for the resource, in whatever instance of its module.
fn is_declared(inputs: &Inputs<'_>, address: &ResourceInstance) -> bool {
    inputs.graph().find_resource(&address.config_resource()).is_some()
}

/// Returns the reason for destroying an object whose block is gone.
fn undeclared_reason(moves: &Moves, address: &ResourceInstance) -> ActionReason {
    match moves.previous.contains_key(address) {
        true => ActionReason::DeleteBecauseNoMoveTarget,
        false => ActionReason::DeleteBecauseNoResourceConfig,
    }
}

fn declaration_of(planner: &Planner<'_>, address: &ResourceInstance) -> Declaration {
    if planner.imports.is_generated(address) {
        return Declaration::Configured;
    }
    let mut module = crate::world::ModuleId::ROOT;
    for step in address.module.steps() {
        let config = &planner.world.static_module(module).config;
        let Some(at) = config.calls.get_index_of(&step.name) else {
            return Declaration::Gone(undeclared_reason(&planner.moves, address));
        };
        let call = &planner.world.module(module).calls[at];
        if matches!(call.expansion, Expansion::Pending | Expansion::Unknown) {
            return Declaration::Undetermined;
        }
        match call.expansion.position(&step.key).and_then(|position| call.instances.get(position)) {
            Some(id) => module = *id,
            None if is_declared(&planner.inputs, address) => {
                return Declaration::Gone(ActionReason::DeleteBecauseNoModule);
            }
            None => return Declaration::Gone(undeclared_reason(&planner.moves, address)),
        }
    }
    let Some(number) = expand::resource_number(&planner.world, module, &address.resource) else {
        return Declaration::Gone(undeclared_reason(&planner.moves, address));
    };
    let expansion = &planner.world.module(module).resources[number as usize].expansion;
    if expansion.position(&address.key).is_some() {
        return Declaration::Configured;
    }
    let config = &planner.world.static_module(module).config;
    let is_switched = config.resources.get(&address.resource).is_some_and(|block| block.lifecycle.enabled.is_some());
    match (expansion, &address.key) {
        (Expansion::Pending | Expansion::Unknown, _) => Declaration::Undetermined,
        (Expansion::Count(_), InstanceKey::Int(_)) => Declaration::Gone(ActionReason::DeleteBecauseCountIndex),
        (Expansion::ForEach(_), InstanceKey::String(_)) => Declaration::Gone(ActionReason::DeleteBecauseEachKey),
        (_, InstanceKey::None) if is_switched => Declaration::Gone(ActionReason::DeleteBecauseEnabledFalse),
        _ => Declaration::Gone(ActionReason::DeleteBecauseWrongRepetition),
    }
}

pub(super) async fn start_orphan(planner: &mut Planner<'_>, address: ResourceInstance, deposed: Option<DeposedKey>) {
    let Some((orphan, reason)) = orphaned_object(planner, &address, deposed) else {
        return instances::end_instance_at(planner, &address, Outcome::Done);
    };
    let (subject, call) = orphan.into_call(Arc::clone(&planner.inputs.session().hooks));
    if planner.inputs.mode() == Mode::Normal && is_forgotten(&planner.inputs, &address) {
        return forget(&planner.moves, &mut planner.evaluation, &mut planner.plan, subject, call, reason).await;
    }
    planner.start_call(run_plan_call(subject, call)).await;
}

/// Returns the call to plan an orphan with, and the reason for destroying it; `None` if that is impossible.
fn orphaned_object(
    planner: &mut Planner<'_>,
    address: &ResourceInstance,
    deposed: Option<DeposedKey>,
) -> Option<(OrphanedObject, Option<ActionReason>)> {
    let record = planner.state.object(address, deposed.as_ref()).cloned()?;
    let config = planner.state.provider(address, deposed.as_ref()).cloned()?;
    let forget = is_forgotten(&planner.inputs, address);
    let left = planner.managers.deferral_reason(&config).filter(|_| !forget);
    if let Some(reason) = left.filter(|_| planner.managers.is_unready(&config)) {
        defer_orphan(planner, address.clone(), deposed, config, reason);
        return None;
    }
    let (provider, schema) = manager_of_orphan(planner, address, &config)?;
    let reason = match (declaration_of(planner, address), planner.inputs.mode(), &deposed) {
        (Declaration::Gone(reason), Mode::Normal, None) => Some(reason),
        _ => None,
    };
    let disposal = disposal(&planner.inputs, address, &record);
    let prevention = if deposed.is_none() {
        prevention_of_orphan(&planner.inputs, &planner.world, &mut planner.evaluation, address)
    } else {
        Prevention::None
    };
    let purpose = match planner.inputs.mode() {
        Mode::RefreshOnly => Purpose::Refresh,
        Mode::Normal if forget => Purpose::Refresh,
        Mode::Normal | Mode::Destroy => Purpose::Delete(reason),
    };
    let orphan = OrphanedObject {
        address: address.clone(),
        deposed,
        config: Arc::new(config),
        provider,
        schema,
        create_before_destroy: record.create_before_destroy || block_creates_first(&planner.inputs, address),
        record,
        span: Span::NONE,
        purpose,
        disposal,
        prevention,
        // Forgotten objects are not refreshed.
        refresh: if forget { Refresh::Trust } else { planner.inputs.options().refresh },
        deferral: planner.inputs.deferral(),
        left,
    };
    Some((orphan, reason))
}

/// Returns the provider of an object without a block and its schema, or the reason why the provider is unavailable.
fn manager_of_orphan(
    planner: &mut Planner<'_>,
    address: &ResourceInstance,
    config: &ProviderConfig,
) -> Option<(Arc<Checked>, Arc<Schema>)> {
    let Some(provider) = planner.providers.configured(config) else {
        // After another error, that may be the reason why the provider is not configured.
        if !planner.schedule.had_errors_before_orphans() {
            let problem = managers::no_manager(&planner.inputs, planner.providers, config, address, Span::NONE);
            planner.evaluation.diagnostics.push(problem);
        }
        return None;
    };
    match planner.providers.schema(&config.provider, &address.resource, Span::NONE) {
        Ok(schema) => Some((provider, schema)),
        Err(problems) => {
            planner.evaluation.diagnostics.append(problems);
            None
        }
    }
}

/// Leaves an object to a later run whose provider cannot even be asked.
fn defer_orphan(
    planner: &mut Planner<'_>,
    address: ResourceInstance,
    deposed: Option<DeposedKey>,
    config: ProviderConfig,
    reason: DeferralReason,
) {
    let schema = match planner.providers.schema(&config.provider, &address.resource, Span::NONE) {
        Ok(schema) => schema,
        Err(problems) => return planner.evaluation.diagnostics.append(problems),
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
    deferral::defer_without_call(planner, &subject, &config_value, reason);
}

/// Returns the treatment of an orphan: by its block if there is one, by a `removed` block,
/// or by its record.
fn disposal(inputs: &Inputs<'_>, address: &ResourceInstance, record: &ObjectRecord) -> Disposal {
    let block = inputs.graph().block(&address.config_resource());
    let destroy = block.and_then(|block| block.lifecycle.destroy.as_ref());
    match destroy.map(|destroy| &destroy.kind) {
        Some(ExpressionKind::Bool(true)) => Disposal::Destroyed,
        Some(ExpressionKind::Bool(false)) => Disposal::Kept(ActionReason::ForgotBecauseLifecycleDestroyInConfig),
        None if block.is_some() || removal(inputs, address).is_some() => Disposal::Destroyed,
        // The expression cannot be evaluated for an instance that is gone.
        _ if record.is_kept() => Disposal::Kept(ActionReason::ForgotBecauseLifecycleDestroyInState),
        _ => Disposal::Destroyed,
    }
}

/// Returns the protection of an orphaned instance by the `prevent_destroy` of its resource's block, if there is one (PL-24).
fn prevention_of_orphan(
    inputs: &Inputs<'_>,
    world: &World,
    evaluation: &mut Evaluation,
    address: &ResourceInstance,
) -> Prevention {
    let Some(block) = inputs.graph().block(&address.config_resource()) else { return Prevention::None };
    let header = block.header_span;
    let lifecycle = Arc::clone(&block.lifecycle);
    let Some(prevent) = &lifecycle.prevent_destroy else { return Prevention::None };
    let repetition = as_written(block, Repetition::of_orphan(&address.key));
    let functions = Arc::clone(&evaluation.functions);
    if let Some(module) = world.find(&address.module) {
        let scope = InstanceScope::new(world, module, &functions).repeated(&repetition);
        return evaluated::prevention(Some(prevent), header, evaluation, &scope);
    }
    let Some(scope) = GoneModuleScope::new(world, &functions, &address.module) else {
        return Prevention::Undecided(prevent.span);
    };
    evaluated::prevention(Some(prevent), header, evaluation, &scope.repeated(&repetition))
}

/// Whether the block of an instance that is gone has its replacements created first (OD-05), as far as that does not depend on
/// the instance.
fn block_creates_first(inputs: &Inputs<'_>, address: &ResourceInstance) -> bool {
    let found = inputs.graph().find_resource(&address.config_resource());
    found.is_some_and(|(index, node)| inputs.is_forced_to_create_first(index, node))
}

/// Whether a `removed` block says that the object stays (PL-25).
fn is_forgotten(inputs: &Inputs<'_>, address: &ResourceInstance) -> bool {
    removal(inputs, address) == Some(false)
}

/// Returns whether `removed` blocks have an object destroyed; `None` without a block for it. One block with `destroy = false` is enough
/// to keep it, but of several blocks with the same address only the first one counts.
fn removal(inputs: &Inputs<'_>, address: &ResourceInstance) -> Option<bool> {
    let written = address.config_resource();
    let mut seen: Vec<RemovedFrom> = Vec::new();
    for (_, module) in inputs.graph().modules() {
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

async fn forget(
    moves: &Moves,
    evaluation: &mut Evaluation,
    plan: &mut PlanBuilder,
    subject: ManagedSubject,
    call: PlanCall,
    reason: Option<ActionReason>,
) {
    let result = call.run().await;
    let failed = result.diagnostics.has_errors();
    evaluation.diagnostics.append(result.diagnostics);
    let Some(prior) = result.prior.filter(|_| !failed) else { return };
    let null = subject.schema.block.null_value();
    plan.add_change(
        None,
        ResourceChange {
            previous_address: moves.previous.get(&subject.address).cloned().map(Box::new),
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
        },
    );
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

/// An object that no block describes.
pub(super) struct OrphanedObject {
    pub(super) address: ResourceInstance,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) record: Arc<ObjectRecord>,
    pub(super) config: Arc<ProviderConfig>,
    pub(super) provider: Arc<Checked>,
    pub(super) schema: Arc<Schema>,
    /// Whether the order of its replacement matters to those around it.
    pub(super) create_before_destroy: bool,
    pub(super) span: Span,
    pub(super) purpose: Purpose,
    pub(super) disposal: Disposal,
    /// Whether it may be destroyed.
    pub(super) prevention: Prevention,
    pub(super) refresh: Refresh,
    pub(super) deferral: Deferral,
    /// The reason for deferring the change.
    pub(super) left: Option<DeferralReason>,
}

impl OrphanedObject {
    /// Splits it into the call to the provider and the subject that is kept meanwhile.
    pub(super) fn into_call(self, hooks: Arc<dyn Hooks>) -> (ManagedSubject, PlanCall) {
        let subject = ManagedSubject {
            instance: None,
            address: self.address.clone(),
            deposed: self.deposed.clone(),
            provider: self.config,
            schema: Arc::clone(&self.schema),
            create_before_destroy: self.create_before_destroy,
            is_kept: false,
            undecided: false,
            outcome: Outcome::Done,
            importing: None,
        };
        let call = PlanCall {
            config: self.schema.block.null_value(),
            target: CallTarget {
                address: self.address,
                deposed: self.deposed,
                provider: self.provider,
                meta: no_meta(),
                schema: self.schema,
                body: None,
                span: self.span,
            },
            lifecycle: Lifecycle {
                ignore: Ignore::Nothing,
                create_before_destroy: false,
                prevention: self.prevention,
                disposal: self.disposal,
            },
            purpose: self.purpose,
            record: Some(self.record),
            refresh: self.refresh,
            forced: None,
            importing: None,
            generating: None,
            deferral: self.deferral,
            left: self.left,
            creates: PlanPurpose::Change,
            hooks,
        };
        (subject, call)
    }
}
