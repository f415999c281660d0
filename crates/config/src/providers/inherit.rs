//! Resolution of a module's local provider name to the `provider` block that configures it.
//!
//! The caller's `providers` argument takes precedence: it maps the name to a configuration of the caller, which is
//! resolved in the same way. Then follows the module's own block. A default configuration (without alias) that is
//! neither passed nor declared is inherited from the nearest ancestor that configures the same provider; the root
//! module has an implied empty one for every provider.

use groma_address::{InstanceKey, ModulePath, ProviderConfig};
use groma_hcl::Expression;

use crate::configuration::Configuration;
use crate::model::{LocalProvider, LocalProviderRef, Module, Resource};

/// A provider configuration that is referenced but not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingProvider {
    /// Address of the missing configuration.
    pub expected: ProviderConfig,
}

/// The expression that selects an instance of a provider block with `for_each`.
#[derive(Clone, Copy, Debug)]
pub enum ProviderKey<'a> {
    /// A key in the reference itself: `provider = aws.by_region[each.key]`.
    Own(&'a Expression),
    /// A key in the `providers` argument of an ancestor's module call: `providers = { aws = aws.by_region[each.key]
    /// }`.
    Passed {
        /// The called module.
        module: &'a ModulePath,
        /// The key, to be evaluated in the calling module.
        key: &'a Expression,
    },
}

/// A resolved provider configuration.
#[derive(Clone, Debug)]
pub struct ProviderUse<'a> {
    /// Address of the provider block.
    pub config: ProviderConfig,
    /// The selected instance of a block with `for_each`.
    pub key: Option<ProviderKey<'a>>,
}

impl Configuration {
    /// Returns the provider configuration that `resource` of the module at `path` uses.
    ///
    /// # Errors
    /// The configuration is missing: an alias without a block that the caller does not pass either.
    pub fn provider_config(&self, path: &ModulePath, resource: &Resource) -> Result<ProviderConfig, MissingProvider> {
        self.resolve_provider_config(path, &resource.local_provider())
    }

    /// Resolves the local name `local` of the module at `path` to a provider configuration.
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

    /// Resolves a local name like [`Self::resolve_provider_config`], together with the key that selects the instance;
    /// `written` is the argument with the reference.
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

    /// Returns the modules from the root down to the one at `path`.
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
            expected: ProviderConfig {
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
    // An empty block next to a passed configuration is only a proxy: the form before `configuration_aliases`.
    if let Some(passed) = passed_in(above, module, local) {
        return passed_on(above, module, passed);
    }
    let without_key = |config| ProviderUse { config, key: None };
    if module.providers.contains_key(local) {
        return Ok(without_key(here));
    }
    match (&local.alias, above.is_empty()) {
        (Some(_), _) => Err(MissingProvider { expected: here }),
        (None, true) => Ok(without_key(here)),
        // Only default configurations are inherited; aliases must be passed explicitly.
        (None, false) => Ok(inherited(above, here)),
    }
}

/// Resolves the configuration `passed` by the caller of `module`.
fn passed_on<'a>(
    above: &[&'a Module],
    module: &'a Module,
    passed: &'a LocalProviderRef,
) -> Result<ProviderUse<'a>, MissingProvider> {
    let found = resolve(above, &passed.provider)?;
    let key = passed.key.as_ref().map(|key| ProviderKey::Passed { module: &module.path, key });
    Ok(ProviderUse { key: key.or(found.key), ..found })
}

/// Returns the configuration that the caller of `module` passes for `local`, by the caller's local name.
fn passed_in<'a>(above: &[&'a Module], module: &Module, local: &LocalProvider) -> Option<&'a LocalProviderRef> {
    let name = module.path.steps().last()?;
    let call = above.last()?.calls.get(name)?;
    call.providers.iter().find(|passed| passed.child == *local).map(|passed| &passed.parent)
}

/// Returns the nearest default configuration of the same provider.
fn inherited<'a>(above: &[&'a Module], expected: ProviderConfig) -> ProviderUse<'a> {
    for (depth, module) in above.iter().enumerate().rev() {
        let block = module.providers.values().find(|block| {
            block.provider.alias.is_none() && module.provider_address(&block.provider.name) == expected.provider
        });
        if block.is_some() || depth == 0 {
            return ProviderUse { config: ProviderConfig { module: module.path.clone(), ..expected }, key: None };
        }
        // A caller may in turn have received the configuration under its own local name of the provider.
        let local = module.required_providers.values().find(|required| required.address == expected.provider);
        let local =
            LocalProvider::default_of(local.map_or_else(|| expected.provider.type_name.clone(), |r| r.name.clone()));
        let (parents, _) = above.split_at(depth);
        if let Some(passed) = passed_in(parents, module, &local)
            && let Ok(found) = passed_on(parents, module, passed)
        {
            return found;
        }
    }
    ProviderUse { config: expected, key: None }
}
