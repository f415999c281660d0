//! Which instance of a provider block manages an instance of a resource or an action.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groma_address::{InstanceKey, Mode as ResourceMode, ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, Span};
use groma_plan::{ActionInstance, DeferralReason, Mode};

use super::event::Instance;
use super::planner::Planner;
use crate::action_blocks::Named;
use crate::config_graph::ModuleIndex;
use crate::provider_instances::{Choice, Manager, absent};
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::ModuleId;

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

    /// Why what a provider configuration manages is deferred; none where it is not.
    pub(super) fn deferral_reason(&self, provider: &ProviderConfig) -> Option<DeferralReason> {
        if self.deferred.is_empty() { None } else { self.deferred.get(&provider.block()).copied() }
    }

    /// Whether the provider of a deferred configuration cannot even be asked.
    pub(super) fn is_unready(&self, provider: &ProviderConfig) -> bool {
        !self.unready.is_empty() && self.unready.contains(&provider.block())
    }
}

impl Planner<'_> {
    /// The template of an instance that is being planned, with the configuration that manages it.
    pub(super) fn template_of(&self, instance: Instance) -> Option<Arc<Template>> {
        self.managers.template_of(instance).or_else(|| self.template(instance.module, instance.resource))
    }

    /// The same for an instance that is about to be planned; the instance ends here when there is none.
    pub(super) fn choose(
        &mut self,
        instance: Instance,
        address: &ResourceInstance,
        template: Arc<Template>,
    ) -> Option<Arc<Template>> {
        if template.key.is_none() {
            return Some(template);
        }
        if self.inputs.mode() == Mode::Destroy {
            match self.recorded_manager(address, &template) {
                Some(config) => return Some(self.note_choice(instance, &template, config)),
                // What there is not is not destroyed, and what was read is looked up in the state.
                None if address.resource.mode == ResourceMode::Data => return Some(template),
                None if address.resource.mode == ResourceMode::Managed && self.state.get(address).is_none() => {
                    self.end_instance(instance, Outcome::Done);
                    return None;
                }
                None => {}
            }
        }
        let repetition = self.repetition(instance);
        let choice = Choice::of(&template, instance.module, &repetition, address);
        match choice.manager_or_defer(self.inputs.deferral(), &self.world, &mut self.evaluation, self.providers) {
            Some(Manager::Known(config)) => Some(self.note_choice(instance, &template, config)),
            Some(Manager::Later) => {
                self.leave_unmanaged(instance, address, &template);
                None
            }
            None => {
                self.end_instance(instance, Outcome::Failed);
                None
            }
        }
    }

    /// The instance of the template's provider block that the state says an object is managed by.
    fn recorded_manager(&self, address: &ResourceInstance, template: &Template) -> Option<Arc<ProviderConfig>> {
        let recorded =
            self.state.provider(address, None).filter(|recorded| recorded.is_of_block(&template.provider))?;
        let InstanceKey::String(key) = &recorded.key else { return None };
        let known = self.providers.instance(&template.provider, key);
        Some(known.unwrap_or_else(|| Arc::new(recorded.clone())))
    }

    /// Instances of a resource that the same configuration manages share a template.
    fn note_choice(&mut self, instance: Instance, template: &Template, config: Arc<ProviderConfig>) -> Arc<Template> {
        let module = self.world.module(instance.module).of;
        let chosen = self.managers.managed_by(module, instance.resource, template, config);
        // Others carry along who manages them.
        if self.mode_of(instance) != Some(ResourceMode::Managed) {
            self.managers.note_template(instance, Arc::clone(&chosen));
        }
        chosen
    }

    fn mode_of(&self, instance: Instance) -> Option<ResourceMode> {
        let config = &self.world.static_module(instance.module).config;
        Some(config.resources.get_index(instance.resource as usize)?.0.mode)
    }

    /// Leaves an instance to a later run of which it is not known yet who manages it.
    fn leave_unmanaged(&mut self, instance: Instance, address: &ResourceInstance, template: &Template) {
        let reason = DeferralReason::ProviderConfigUnknown;
        match address.resource.mode {
            ResourceMode::Managed => self.leave_instance(instance, address.clone(), template, reason),
            ResourceMode::Data | ResourceMode::Ephemeral => {
                self.read_later(instance, address.clone(), reason);
            }
            ResourceMode::List => self.end_instance(instance, Outcome::Deferred),
        }
    }

    /// The template of an instance of an action block, with the configuration that manages it, or why it is left to a later run; none
    /// after an error, which is noted.
    pub(super) fn choose_for_action(
        &mut self,
        module: ModuleId,
        named: &Named,
        template: Arc<Template>,
        action: &ActionInstance,
    ) -> Option<Result<Arc<Template>, DeferralReason>> {
        if template.key.is_none() {
            return Some(Ok(template));
        }
        let repetition = self.actions.blocks().repetition(&self.world, &mut self.evaluation, module, named)?;
        let choice = Choice::of(&template, module, &repetition, action);
        let deferral = self.inputs.deferral();
        Some(match choice.manager_or_defer(deferral, &self.world, &mut self.evaluation, self.providers)? {
            Manager::Known(config) => Ok(Arc::new(template.managed_by(config))),
            Manager::Later => Err(DeferralReason::ProviderConfigUnknown),
        })
    }

    /// That a provider configuration is not there which an object needs.
    pub(super) fn no_manager(&self, wanted: &ProviderConfig, address: &ResourceInstance, span: Span) -> Diagnostic {
        let block = wanted.block();
        let is_written = self.inputs.templates().provider_blocks().any(|(_, _, written)| written.config == block);
        if is_written && (!wanted.key.is_none() || self.providers.keys(&block).is_some()) {
            return absent(self.providers, wanted, address, span);
        }
        not_present(&block, span).about(address.to_string())
    }
}

fn not_present(provider: &ProviderConfig, span: Span) -> Diagnostic {
    let detail = format!(
        "This resource is managed by the provider configuration {provider}, which is gone, so nothing can be done \
         with its objects. Put the provider block back; it can go once an apply has destroyed them."
    );
    Diagnostic::error("Provider configuration not present", detail).at(span)
}
