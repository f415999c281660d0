//! Provider blocks: which instances one has, and what each is configured with. The same when planning and when applying.

use std::sync::Arc;

use groma_address::{InstanceKey, Name, ProviderConfig};
use groma_lang::FunctionContext;
use groma_value::Value;

use crate::evaluation::Evaluation;
use crate::provider_setup::Configuring;
use crate::providers::Providers;
use crate::repetition::{Arguments, expand};
use crate::templates::ProviderTemplate;
use crate::world::{Expansion, InstanceScope, ModuleId, Repetition, World};

/// An instance of a provider block: the only one of a block without `for_each`.
pub(crate) struct BlockInstance<'a> {
    /// The address of the provider configuration.
    pub(crate) config: ProviderConfig,
    block: &'a ProviderTemplate,
    module: ModuleId,
    repetition: Repetition,
}

impl<'a> BlockInstance<'a> {
    /// The instances that `block` has in a module instance, which keys can choose from now on; none after an error, which is noted.
    pub(crate) fn all(
        block: &'a ProviderTemplate,
        module: ModuleId,
        world: &World,
        evaluation: &mut Evaluation,
        providers: &mut Providers,
    ) -> Option<Vec<Self>> {
        let Some(for_each) = &block.for_each else {
            return Some(vec![Self { config: block.config.clone(), block, module, repetition: Repetition::None }]);
        };
        // Each plan has a time of its own: who manages an object must not depend on that.
        let functions = FunctionContext { plan_timestamp: None, ..(*evaluation.functions).clone() };
        let scope = InstanceScope::new(world, module, &functions);
        let arguments = Arguments { for_each: Some(for_each), ..Arguments::default() };
        let expansion = expand(arguments, &scope, &mut evaluation.diagnostics)?;
        let Expansion::ForEach(elements) = expansion else { return None };
        providers.expand(&block.config, elements.iter().map(|(key, _)| key.clone()));
        let instance = |(key, value): &(Name, Value)| Self {
            config: block.config.instance(InstanceKey::String(key.clone())),
            block,
            module,
            repetition: Repetition::Each(key.clone(), value.clone()),
        };
        Some(elements.iter().map(instance).collect())
    }

    /// Evaluates the configuration; `None` after an error, which is recorded.
    pub(crate) fn value(&self, world: &World, evaluation: &mut Evaluation) -> Option<Value> {
        let functions = Arc::clone(&evaluation.functions);
        let scope = InstanceScope::new(world, self.module, &functions).repeated(&self.repetition);
        evaluation.provider(&self.block.body, &scope)
    }

    /// A provider that is to be configured with `value`; none after an error, which is noted.
    pub(crate) fn configuring(
        self,
        value: Value,
        evaluation: &mut Evaluation,
        providers: &mut Providers,
    ) -> Option<Configuring> {
        match providers.for_configuration(&self.config) {
            Ok(provider) => Some(Configuring::new(self.config, provider, Arc::clone(&self.block.body), value)),
            Err(problem) => {
                evaluation.diagnostics.push(problem);
                None
            }
        }
    }
}
