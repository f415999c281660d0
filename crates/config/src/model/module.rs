//! A module: the content of one directory, after overrides.

use std::path::PathBuf;
use std::sync::Arc;

use groma_address::{ModulePath, Name, OPENTOFU_PROVIDER_HOST, ProviderAddress, Resource as ResourceAddress};
use groma_diagnostics::Span;
use groma_hcl::{Body, Expression};
use indexmap::IndexMap;

use super::encryption::{Encryption, EncryptionBlock};
use super::module_call::{ModuleCall, Product};
use super::named_value::{Check, Local, Output, Variable};
use super::provider::{LocalProvider, LocalProviderRef, ProviderBlock, ProviderMeta, RequiredProvider};
use super::refactoring::{Import, Moved, Removed};
use super::resource::Resource;
use super::settings::{Backend, VersionRequirement};

/// Blocks by name in source order, with a fast hash because expressions look names up for each instance.
pub type Declared<K, V> = IndexMap<K, V, foldhash::fast::RandomState>;

/// A module with its descendants. Maps are in source order: files by name, blocks as written.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Path of the module in the module tree.
    pub path: ModulePath,
    /// Directory, relative to the root module's directory; empty for the root module.
    pub directory: PathBuf,
    /// `variable` blocks by name.
    pub variables: IndexMap<Name, Variable>,
    /// Arguments of all `locals` blocks by name.
    pub locals: Declared<Name, Local>,
    /// `output` blocks by name.
    pub outputs: IndexMap<Name, Output>,
    /// `module` blocks by name.
    pub calls: IndexMap<Name, ModuleCall>,
    /// Managed, data, ephemeral and list resources, including data blocks nested in check blocks.
    pub resources: Declared<ResourceAddress, Resource>,
    /// `provider` blocks by local name and alias.
    pub providers: IndexMap<LocalProvider, ProviderBlock>,
    /// `required_providers` entries by local name.
    pub required_providers: IndexMap<Name, RequiredProvider>,
    /// `provider_meta` blocks by local provider name.
    pub provider_metas: IndexMap<Name, ProviderMeta>,
    /// `moved` blocks in source order.
    pub moved: Vec<Moved>,
    /// `removed` blocks in source order.
    pub removed: Vec<Removed>,
    /// `import` blocks in source order.
    pub imports: Vec<Import>,
    /// `check` blocks by name.
    pub checks: IndexMap<Name, Check>,
    /// `action` blocks by type and name.
    pub actions: IndexMap<(Name, Name), ActionBlock>,
    /// The `backend` block, in the root module.
    pub backend: Option<Backend>,
    /// The `cloud` block, in the root module.
    pub cloud: Option<Backend>,
    /// State and plan encryption, in the root module.
    pub encryption: Option<Encryption>,
    pub(crate) encryption_block: Option<EncryptionBlock>,
    /// `required_version` arguments of all `terraform` blocks.
    pub required_versions: Vec<VersionRequirement>,
    /// Child modules by the name of their call; a child that failed to load is missing.
    pub children: IndexMap<Name, Arc<Module>>,
    /// The registry of providers without a requirement: OpenTofu's if the lock file or state shows that OpenTofu was
    /// used before.
    pub(crate) default_registry: Name,
}

impl Module {
    /// Returns the provider that manages `resource`.
    pub fn provider_for(&self, resource: &Resource) -> ProviderAddress {
        self.provider_address(&resource.local_provider().name)
    }

    /// Resolves a local provider name to a source address.
    pub fn provider_address(&self, local_name: &str) -> ProviderAddress {
        if let Some(required) = self.required_providers.get(local_name) {
            return required.address.clone();
        }
        default_provider(local_name, &self.default_registry)
    }

    /// Returns the product whose rule applies when `call` gains or loses `count`: the two move the single instance
    /// differently.
    pub fn product_of(&self, call: &ModuleCall) -> Product {
        if &*self.default_registry == OPENTOFU_PROVIDER_HOST { Product::OpenTofu } else { call.written_for }
    }
}

/// Resolves a local provider name without a requirement. Source addresses are in lower case, local names need not be.
pub(crate) fn default_provider(local_name: &str, registry: &Name) -> ProviderAddress {
    let address = ProviderAddress::default_for(&local_name.to_lowercase());
    if address.is_builtin() { address } else { ProviderAddress { hostname: registry.clone(), ..address } }
}

/// An `action` block: an operation of a provider.
#[derive(Clone, Debug)]
pub struct ActionBlock {
    /// The action type: the block's first label.
    pub type_name: Name,
    /// The block's second label.
    pub name: Name,
    /// `count`: the number of instances.
    pub count: Option<Expression>,
    /// `for_each`: one instance for each element.
    pub for_each: Option<Expression>,
    /// The `provider` argument.
    pub provider: Option<LocalProviderRef>,
    /// Content of the nested `config` block.
    pub config: Option<Body>,
    /// Span of the block's header.
    pub span: Span,
    /// Span of the type label.
    pub type_span: Span,
}

impl ActionBlock {
    /// Returns the local name of the provider configuration that the action uses.
    pub fn local_provider(&self) -> LocalProvider {
        match &self.provider {
            Some(reference) => reference.provider.clone(),
            None => LocalProvider::default_of(super::resource::implied_provider(&self.type_name)),
        }
    }
}
