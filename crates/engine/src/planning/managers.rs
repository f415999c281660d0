//! Selection of the provider configuration for an instance of a resource or an action.

use std::sync::Arc;

use groma_address::{InstanceKey, Mode as ResourceMode, ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, Span};

use super::event::Instance;
use super::planner::Planner;
use crate::action_blocks::Named;
use crate::invocation::ActionInstance;
use crate::plan::{DeferralReason, Mode};
use crate::provider_instances::{Choice, Manager, absent};
use crate::templates::Template;
use crate::walk::Outcome;
use crate::world::ModuleId;

impl Planner<'_> {
    /// The template of an instance that is being planned, with the configuration that manages it.
    pub(super) fn template_of(&self, instance: Instance) -> Option<Arc<Template>> {
        let chosen = self.managers.get(&instance).cloned();
        chosen.or_else(|| self.template(instance.module, instance.resource))
    }

    /// Returns the template of an instance that is about to be planned. Ends the instance if no provider configuration manages it.
    pub(super) fn choose(
        &mut self,
        instance: Instance,
        address: &ResourceInstance,
        template: Arc<Template>,
    ) -> Option<Arc<Template>> {
        if template.key.is_none() {
            return Some(template);
        }
        if self.options.mode == Mode::Destroy {
            match self.recorded_manager(address, &template) {
                Some(config) => return Some(self.note_choice(instance, &template, config)),
                // A missing object is not destroyed, and a data source's result is taken from the state.
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
        match choice.manager_or_defer(self.options.deferral, &self.world, &mut self.evaluation, self.providers) {
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
        let of = (module, instance.resource, config.key.clone());
        let chosen = self.chosen.entry(of).or_insert_with(|| Arc::new(template.managed_by(config)));
        let chosen = Arc::clone(chosen);
        // Others carry along who manages them.
        if self.mode_of(instance) != Some(ResourceMode::Managed) {
            self.managers.insert(instance, Arc::clone(&chosen));
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
        let repetition = self.actions.repetition(&self.world, &mut self.evaluation, module, named)?;
        let choice = Choice::of(&template, module, &repetition, action);
        let deferral = self.options.deferral;
        Some(match choice.manager_or_defer(deferral, &self.world, &mut self.evaluation, self.providers)? {
            Manager::Known(config) => Ok(Arc::new(template.managed_by(config))),
            Manager::Later => Err(DeferralReason::ProviderConfigUnknown),
        })
    }

    /// That a provider configuration is not there which an object needs.
    pub(super) fn no_manager(&self, wanted: &ProviderConfig, address: &ResourceInstance, span: Span) -> Diagnostic {
        let block = wanted.block();
        let is_written = self.templates.provider_blocks().any(|(_, _, written)| written.config == block);
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
