//! Functions that a provider has only with its configuration, as OpenTofu calls them: what does waits for the provider's block.

use std::fmt;
use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_config::{LocalProvider, ProviderUse};
use groma_lang::ProviderFunctionName;

use super::{ConfigGraph, ModuleIndex, NodeIndex};

/// Whether the provider at an address has a function.
type Knows = dyn Fn(&ProviderAddress, &str) -> bool + Send + Sync;

/// Says whether the provider at an address has a function whatever its configuration.
#[derive(Clone)]
pub struct KnownFunctions(Arc<Knows>);

impl KnownFunctions {
    /// Creates the set of known functions from a predicate.
    pub fn new(knows: impl Fn(&ProviderAddress, &str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(knows))
    }
}

impl fmt::Debug for KnownFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownFunctions")
    }
}

/// The block of a provider that a function may come with.
pub struct FunctionBlock<'a> {
    /// The module that the block is in.
    pub module: ModuleIndex,
    /// The provider block's node in its module.
    pub node: NodeIndex,
    /// The configuration, and what chooses one of several.
    pub used: ProviderUse<'a>,
}

impl ConfigGraph {
    /// The graph of a configuration in which calls of functions that `known` does not have wait for the provider's block.
    #[must_use]
    pub fn with_functions(self, known: KnownFunctions) -> Self {
        Self { known_functions: Some(known), ..self }
    }

    /// The block that what a module calls `name` would come with; none where there is no such block.
    pub fn function_block(&self, module: ModuleIndex, name: &ProviderFunctionName<'_>) -> Option<FunctionBlock<'_>> {
        let config = &self.module(module).config;
        let (local, _) = config.required_providers.get_key_value(name.provider)?;
        let local = LocalProvider { name: local.clone(), alias: name.alias.map(Into::into) };
        let used = self.provider_use(module, &local)?;
        let (module, node) = self.provider_block(&used.config)?;
        Some(FunctionBlock { module, node, used })
    }

    /// The provider configuration that a module calls `local`.
    pub fn provider_use(&self, module: ModuleIndex, local: &LocalProvider) -> Option<ProviderUse<'_>> {
        self.configuration.provider_use(&self.module(module).config.path, local, None).ok()
    }

    /// Returns the configured provider's block for a function that the provider does not offer before it is configured.
    pub(super) fn late_function_block(&self, module: ModuleIndex, name: &str) -> Option<FunctionBlock<'_>> {
        let known = self.known_functions.as_ref()?;
        let name = ProviderFunctionName::parse(name)?;
        let address = &self.module(module).config.required_providers.get(name.provider)?.address;
        if known.0(address, name.function) {
            return None;
        }
        self.function_block(module, &name)
    }
}
