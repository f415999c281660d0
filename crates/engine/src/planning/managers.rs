//! Which provider configuration manages an instance, and configuring the providers of blocks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groma_address::{InstanceKey, Mode as ResourceMode, ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, Span};
use groma_plan::{ActionInstance, DeferralReason, Mode};
use groma_state::State;

use super::data;
use super::deferral;
use super::event::{Event, Instance};
use super::inputs::Inputs;
use super::instances;
use super::managed;
use super::planner::Planner;
use crate::action_blocks::Named;
use crate::config_graph::ModuleIndex;
use crate::evaluation::Evaluation;
use crate::options::Deferral;
use crate::provider_blocks::BlockInstance;
use crate::provider_instances::{Choice, Manager, absent};
use crate::provider_setup::{Configuring, configure_all};
use crate::providers::Providers;
use crate::recovery::Recovered;
use crate::templates::{ProviderTemplate, Template};
use crate::walk::{Outcome, Visit};
use crate::world::{ModuleId, World};

/// The provider configurations of instances, as far as they are chosen while planning.
///
/// Owns the schema bindings of instances whose resource chooses among the instances of a provider block with `for_each`:
/// those that one configuration manages share one. It also owns the deferred provider configurations, through which nothing
/// can be done in this run; all instances of a provider block are deferred together, and of several reasons the first
/// counts, unless the provider does not even take its configuration.
///
/// It evaluates no keys and configures nothing: see `choose` and `provider_blocks`.
#[derive(Default)]
pub(super) struct Managers {
    by_key: HashMap<(ModuleIndex, u32, InstanceKey), Arc<Template>>,
    /// Of the instances that are read.
    by_instance: HashMap<Instance, Arc<Template>>,
    deferred: HashMap<ProviderConfig, DeferralReason>,
    /// The deferred configurations that no provider has.
    unready: HashSet<ProviderConfig>,
}

impl Managers {
    /// The template of a resource's instances that one configuration manages.
    fn managed_by(
        &mut self,
        module: ModuleIndex,
        resource: u32,
        template: &Template,
        config: Arc<ProviderConfig>,
    ) -> Arc<Template> {
        let of = (module, resource, config.key.clone());
        Arc::clone(self.by_key.entry(of).or_insert_with(|| Arc::new(template.managed_by(config))))
    }

    fn note_template(&mut self, instance: Instance, template: Arc<Template>) {
        self.by_instance.insert(instance, template);
    }

    fn template_of(&self, instance: Instance) -> Option<Arc<Template>> {
        self.by_instance.get(&instance).cloned()
    }

    /// Defers what a provider configuration manages. The provider can still be asked, as far as that goes.
    pub(super) fn defer_provider(&mut self, provider: &ProviderConfig, reason: DeferralReason) {
        self.deferred.entry(provider.clone()).or_insert(reason);
    }

    /// Defers what a provider configuration manages that its provider does not even take.
    pub(super) fn mark_unready(&mut self, provider: &ProviderConfig) {
        self.deferred.insert(provider.block(), DeferralReason::ProviderConfigUnknown);
        self.unready.insert(provider.block());
    }

    /// Returns the reason for deferring everything that a provider configuration manages, if it is deferred.
    pub(super) fn deferral_reason(&self, provider: &ProviderConfig) -> Option<DeferralReason> {
        if self.deferred.is_empty() { None } else { self.deferred.get(&provider.block()).copied() }
    }

    /// Whether the provider of a deferred configuration cannot even be asked.
    pub(super) fn is_unready(&self, provider: &ProviderConfig) -> bool {
        !self.unready.is_empty() && self.unready.contains(&provider.block())
    }
}

/// Returns the template of an instance that is being planned, with the provider configuration that manages it.
pub(super) fn template_of(
    inputs: &Inputs<'_>,
    world: &World,
    managers: &Managers,
    instance: Instance,
) -> Option<Arc<Template>> {
    managers.template_of(instance).or_else(|| inputs.template(world, instance.module, instance.resource))
}

/// Returns the template of an instance that is about to be planned. Ends the instance if no provider configuration manages it.
pub(super) fn choose(
    planner: &mut Planner<'_>,
    instance: Instance,
    address: &ResourceInstance,
    template: Arc<Template>,
) -> Option<Arc<Template>> {
    if template.key.is_none() {
        return Some(template);
    }
    if planner.inputs.mode() == Mode::Destroy {
        match recorded_manager(&planner.state, planner.providers, address, &template) {
            Some(config) => {
                return Some(note_choice(&planner.world, &mut planner.managers, instance, &template, config));
            }
            // A missing object is not destroyed, and a data source's result is taken from the state.
            None if address.resource.mode == ResourceMode::Data => return Some(template),
            None if address.resource.mode == ResourceMode::Managed && planner.state.get(address).is_none() => {
                instances::end_instance(planner, instance, Outcome::Done);
                return None;
            }
            None => {}
        }
    }
    let repetition = managed::repetition(&planner.world, instance);
    let choice = Choice::of(&template, instance.module, &repetition, address);
    match choice.manager_or_defer(planner.inputs.deferral(), &planner.world, &mut planner.evaluation, planner.providers)
    {
        Some(Manager::Known(config)) => {
            Some(note_choice(&planner.world, &mut planner.managers, instance, &template, config))
        }
        Some(Manager::Later) => {
            defer_unmanaged(planner, instance, address, &template);
            None
        }
        None => {
            instances::end_instance(planner, instance, Outcome::Failed);
            None
        }
    }
}

/// Returns the recorded provider instance of an object, if it belongs to the template's provider block.
fn recorded_manager(
    state: &State,
    providers: &Providers,
    address: &ResourceInstance,
    template: &Template,
) -> Option<Arc<ProviderConfig>> {
    let recorded = state.provider(address, None).filter(|recorded| recorded.is_of_block(&template.provider))?;
    let InstanceKey::String(key) = &recorded.key else { return None };
    let known = providers.instance(&template.provider, key);
    Some(known.unwrap_or_else(|| Arc::new(recorded.clone())))
}

/// Instances of a resource that the same configuration manages share a template.
fn note_choice(
    world: &World,
    managers: &mut Managers,
    instance: Instance,
    template: &Template,
    config: Arc<ProviderConfig>,
) -> Arc<Template> {
    let module = world.module(instance.module).of;
    let chosen = managers.managed_by(module, instance.resource, template, config);
    // Others carry along who manages them.
    if mode_of(world, instance) != Some(ResourceMode::Managed) {
        managers.note_template(instance, Arc::clone(&chosen));
    }
    chosen
}

fn mode_of(world: &World, instance: Instance) -> Option<ResourceMode> {
    let config = &world.static_module(instance.module).config;
    Some(config.resources.get_index(instance.resource as usize)?.0.mode)
}

/// Defers an instance whose provider configuration is unknown.
fn defer_unmanaged(planner: &mut Planner<'_>, instance: Instance, address: &ResourceInstance, template: &Template) {
    let reason = DeferralReason::ProviderConfigUnknown;
    match address.resource.mode {
        ResourceMode::Managed => deferral::defer_instance(planner, instance, address.clone(), template, reason),
        ResourceMode::Data | ResourceMode::Ephemeral => {
            data::read_later(planner, instance, address.clone(), reason);
        }
        ResourceMode::List => instances::end_instance(planner, instance, Outcome::Deferred),
    }
}

/// Returns the template of an action instance, with the provider configuration that manages it, or the reason for deferring it; `None`
/// after a reported error.
pub(super) fn choose_for_action(
    planner: &mut Planner<'_>,
    module: ModuleId,
    named: &Named,
    template: Arc<Template>,
    action: &ActionInstance,
) -> Option<Result<Arc<Template>, DeferralReason>> {
    if template.key.is_none() {
        return Some(Ok(template));
    }
    let repetition = planner.actions.blocks().repetition(&planner.world, &mut planner.evaluation, module, named)?;
    let choice = Choice::of(&template, module, &repetition, action);
    let deferral = planner.inputs.deferral();
    Some(match choice.manager_or_defer(deferral, &planner.world, &mut planner.evaluation, planner.providers)? {
        Manager::Known(config) => Ok(Arc::new(template.managed_by(config))),
        Manager::Later => Err(DeferralReason::ProviderConfigUnknown),
    })
}

/// Returns the error that an object's provider configuration does not exist.
pub(super) fn no_manager(
    inputs: &Inputs<'_>,
    providers: &Providers,
    wanted: &ProviderConfig,
    address: &ResourceInstance,
    span: Span,
) -> Diagnostic {
    let block = wanted.block();
    let is_written = inputs.templates().provider_blocks().any(|(_, _, written)| written.config == block);
    if is_written && (!wanted.key.is_none() || providers.keys(&block).is_some()) {
        return absent(providers, wanted, address, span);
    }
    not_present(&block, span).about(address)
}

fn not_present(provider: &ProviderConfig, span: Span) -> Diagnostic {
    let detail = format!(
        "This resource is managed by the provider configuration {provider}, which no longer exists, so its objects \
         cannot be read or destroyed. Restore the provider block. You can remove it after an apply has destroyed \
         the objects."
    );
    Diagnostic::error("Provider configuration not present", detail).at(span)
}

pub(super) async fn configure_block(planner: &mut Planner<'_>, visit: Visit, at: u32) {
    let index: ModuleIndex = planner.world.module(visit.module).of;
    let Some(block) = planner.inputs.templates().provider(index, at).cloned() else {
        return planner.end(visit, Outcome::Failed);
    };
    if !planner.inputs.uses_provider(&block.config) {
        return planner.end(visit, Outcome::Done);
    }
    if block.withheld.has_errors() {
        planner.evaluation.diagnostics.append(block.withheld.clone());
        return planner.end(visit, Outcome::Failed);
    }
    if planner.schedule.is_deferred(visit) {
        planner.managers.defer_provider(&block.config, DeferralReason::DeferredPrerequisite);
    }
    let Some(configuring) = configuring(planner, visit.module, &block) else {
        return planner.end(visit, Outcome::Failed);
    };
    let (at_once, version) = (planner.inputs.session().parallelism, planner.inputs.session().terraform_version.clone());
    planner
        .start_call(async move { Event::Providers(visit, configure_all(configuring, at_once, version).await) })
        .await;
}

/// None after an error, which is noted.
fn configuring(planner: &mut Planner<'_>, module: ModuleId, block: &ProviderTemplate) -> Option<Vec<Configuring>> {
    let instances = BlockInstance::all(block, module, &planner.world, &mut planner.evaluation, planner.providers)?;
    let configuring: Vec<_> = instances.into_iter().map(|instance| configuring_one(planner, instance)).collect();
    // Errors of several instances are reported together.
    configuring.into_iter().collect()
}

fn configuring_one(planner: &mut Planner<'_>, instance: BlockInstance<'_>) -> Option<Configuring> {
    let value = instance.value(&planner.world, &mut planner.evaluation)?;
    let configuring = instance.configuring(value, &mut planner.evaluation, planner.providers)?;
    Some(configuring.deferring(planner.inputs.deferral()).recovering(planner.inputs.options().recovery.as_deref()))
}

/// Adds the results of calls that an interrupted run had begun to the state, before anything is planned.
pub(super) fn recover(inputs: &Inputs<'_>, state: &mut State, evaluation: &mut Evaluation, recovered: Vec<Recovered>) {
    let Some(recovery) = inputs.options().recovery.clone() else { return };
    for call in recovered {
        let problems = recovery.record(state, call);
        evaluation.diagnostics.append(problems);
    }
}

pub(super) fn providers_configured(planner: &mut Planner<'_>, visit: Visit, configured: Vec<Configuring>) {
    let mut worst = Outcome::Done;
    for one in configured {
        match provider_configured(planner, one) {
            Outcome::Failed => worst = Outcome::Failed,
            Outcome::Deferred if worst == Outcome::Done => worst = Outcome::Deferred,
            Outcome::Deferred | Outcome::Done => {}
        }
    }
    planner.end(visit, worst);
}

fn provider_configured(planner: &mut Planner<'_>, configuring: Configuring) -> Outcome {
    let failed = configuring.diagnostics.has_errors();
    if failed && planner.inputs.deferral() == Deferral::Allowed && !configuring.value.is_wholly_known() {
        // The provider cannot be configured with the values that are known now.
        planner.managers.mark_unready(&configuring.config);
        return Outcome::Deferred;
    }
    planner.evaluation.diagnostics.append(configuring.diagnostics);
    recover(&planner.inputs, &mut planner.state, &mut planner.evaluation, configuring.recovered);
    if failed {
        return Outcome::Failed;
    }
    planner.providers.took(configuring.config, configuring.provider, configuring.value);
    Outcome::Done
}
