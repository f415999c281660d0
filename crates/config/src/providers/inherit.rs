//! From a module's name for a provider configuration to the block that configures it.
//!
//! A module's own block counts first. Then comes what its caller passes in `providers`, under the caller's name, and so
//! on upwards. A configuration without alias that nobody passes is inherited from the nearest module above that
//! configures the same provider; the root module has one for every provider, as if empty.

use groma_address::{InstanceKey, ModulePath, ProviderConfig};
use groma_hcl::Expression;

use crate::configuration::Configuration;
use crate::model::{LocalProvider, LocalProviderRef, Module, Resource};

/// A provider configuration that is referred to and not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingProvider {
    /// The missing provider configuration.
    pub wanted: ProviderConfig,
}

/// The expression that selects an instance of a provider block with `for_each`.
#[derive(Clone, Copy, Debug)]
pub enum ProviderKey<'a> {
    /// The reference itself: `provider = aws.by_region[each.key]`.
    Own(&'a Expression),
    /// The call of a module above, which hands one instance in: `providers = { aws = aws.by_region[each.key] }`.
    Passed {
        /// The module that is called.
        module: &'a ModulePath,
        /// The key, as the module that calls sees it.
        key: &'a Expression,
    },
}

/// The configuration that is meant by a module's name for it.
#[derive(Clone, Debug)]
pub struct ProviderUse<'a> {
    /// The provider block.
    pub config: ProviderConfig,
    /// The selected instance of the block.
    pub key: Option<ProviderKey<'a>>,
}

impl Configuration {
    /// The provider configuration that `resource` of the module at `path` uses.
    ///
    /// # Errors
    /// There is no such configuration: an alias without a block, and nothing passed by the caller.
    pub fn provider_config(&self, path: &ModulePath, resource: &Resource) -> Result<ProviderConfig, MissingProvider> {
        self.resolve_provider_config(path, &resource.local_provider())
    }

    /// The provider configuration that the module at `path` calls `local`.
    ///
    /// # Errors
    /// As [`Self::provider_config`].
    pub fn resolve_provider_config(
        &self,
        path: &ModulePath,
        local: &LocalProvider,
    ) -> Result<ProviderConfig, MissingProvider> {
        resolve(&self.chain(path), local).map(|found| found.config)
    }

    /// Resolves a local name to its provider block, with the selection of an instance in the argument `written`.
    ///
    /// # Errors
    /// As [`Self::provider_config`].
    pub fn provider_use<'a>(
        &'a self,
        path: &ModulePath,
        local: &LocalProvider,
        written: Option<&'a LocalProviderRef>,
    ) -> Result<ProviderUse<'a>, MissingProvider> {
        let found = resolve(&self.chain(path), local)?;
        let own = written.and_then(|written| written.key.as_ref()).map(ProviderKey::Own);
        Ok(ProviderUse { key: own.or(found.key), ..found })
    }

    /// The modules from the root down to the one at `path`.
    fn chain(&self, path: &ModulePath) -> Vec<&Module> {
        let mut chain: Vec<&Module> = vec![&self.root];
        for name in path.steps() {
            let Some(child) = chain.last().and_then(|module| module.children.get(name)) else { break };
            chain.push(child);
        }
        chain
    }
}

/// Resolves `local` in the last module of `chain`, which begins with the root module.
pub(crate) fn resolve<'a>(chain: &[&'a Module], local: &LocalProvider) -> Result<ProviderUse<'a>, MissingProvider> {
    let Some((module, above)) = chain.split_last() else {
        let provider = groma_address::ProviderAddress::default_for(&local.name);
        return Err(MissingProvider {
            wanted: ProviderConfig {
                module: ModulePath::root(),
                provider,
                alias: local.alias.clone(),
                key: InstanceKey::None,
            },
        });
    };
    let provider = module.provider_address(&local.name);
    let here =
        ProviderConfig { module: module.path.clone(), provider, alias: local.alias.clone(), key: InstanceKey::None };
    // With a caller's configuration an empty block only says that one is expected.
    if let Some(passed) = passed_in(above, module, local) {
        return passed_on(above, module, passed);
    }
    let without_key = |config| ProviderUse { config, key: None };
    if module.providers.contains_key(local) {
        return Ok(without_key(here));
    }
    match (&local.alias, above.is_empty()) {
        (Some(_), _) => Err(MissingProvider { wanted: here }),
        (None, true) => Ok(without_key(here)),
        (None, false) => Ok(inherited(above, here)),
    }
}

/// Returns the configuration that the caller of `module` passes as `passed`.
fn passed_on<'a>(
    above: &[&'a Module],
    module: &'a Module,
    passed: &'a LocalProviderRef,
) -> Result<ProviderUse<'a>, MissingProvider> {
    let found = resolve(above, &passed.provider)?;
    let key = passed.key.as_ref().map(|key| ProviderKey::Passed { module: &module.path, key });
    Ok(ProviderUse { key: key.or(found.key), ..found })
}

/// Returns the configuration that the caller of `module` passes for `local`, in the caller's names.
fn passed_in<'a>(above: &[&'a Module], module: &Module, local: &LocalProvider) -> Option<&'a LocalProviderRef> {
    let name = module.path.steps().last()?;
    let call = above.last()?.calls.get(name)?;
    call.providers.iter().find(|passed| passed.child == *local).map(|passed| &passed.parent)
}

/// The nearest configuration without alias of the same provider.
fn inherited<'a>(above: &[&'a Module], wanted: ProviderConfig) -> ProviderUse<'a> {
    for (depth, module) in above.iter().enumerate().rev() {
        let block = module.providers.values().find(|block| {
            block.provider.alias.is_none() && module.provider_address(&block.provider.name) == wanted.provider
        });
        if block.is_some() || depth == 0 {
            return ProviderUse { config: ProviderConfig { module: module.path.clone(), ..wanted }, key: None };
        }
        // The local name that the module above uses for the same provider may be passed to it in turn.
        let local = module.required_providers.values().find(|required| required.address == wanted.provider);
        let local =
            LocalProvider::default_of(local.map_or_else(|| wanted.provider.type_name.clone(), |r| r.name.clone()));
        let (parents, _) = above.split_at(depth);
        if let Some(passed) = passed_in(parents, module, &local)
            && let Ok(found) = passed_on(parents, module, passed)
        {
            return found;
        }
    }
    ProviderUse { config: wanted, key: None }
}
