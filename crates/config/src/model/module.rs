//! One module: the content of one folder, after overrides.

use std::path::PathBuf;
use std::sync::Arc;

use groma_address::{ModulePath, Name, OPENTOFU_PROVIDER_HOST, ProviderAddress, Resource as ResourceAddress};
use groma_diagnostics::Span;
use groma_hcl::{Body, Expression};
use indexmap::IndexMap;

use super::block::Check;
use super::encryption::{Encryption, EncryptionBlock};
use super::module_call::{ModuleCall, Product};
use super::named_value::{Local, Output, Variable};
use super::provider::{LocalProvider, LocalProviderRef, ProviderBlock, ProviderMeta, RequiredProvider};
use super::refactoring::{Import, Moved, Removed};
use super::resource::Resource;
use super::settings::{Backend, Cloud, VersionRequirement};

/// Blocks by what names them, in the order of the source. Looked up several times for each instance, hence the hash.
pub type Declared<K, V> = IndexMap<K, V, foldhash::fast::RandomState>;

/// A module with all below it. Maps keep the order of the source: files by name, blocks as written.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its place in the tree.
    pub path: ModulePath,
    /// Its folder, relative to the root module's directory; empty for the root module.
    pub directory: PathBuf,
    /// The declared input variables.
    pub variables: IndexMap<Name, Variable>,
    /// The declared local values.
    pub locals: Declared<Name, Local>,
    /// The declared output values.
    pub outputs: IndexMap<Name, Output>,
    /// Calls of child modules.
    pub calls: IndexMap<Name, ModuleCall>,
    /// Managed, data and ephemeral resources, those inside check blocks included.
    pub resources: Declared<ResourceAddress, Resource>,
    /// The provider configurations of the module.
    pub providers: IndexMap<LocalProvider, ProviderBlock>,
    /// Provider requirements by local name.
    pub required_providers: IndexMap<Name, RequiredProvider>,
    /// `provider_meta` blocks by local provider name.
    pub provider_metas: IndexMap<Name, ProviderMeta>,
    /// `moved` blocks.
    pub moved: Vec<Moved>,
    /// `removed` blocks.
    pub removed: Vec<Removed>,
    /// `import` blocks.
    pub imports: Vec<Import>,
    /// `check` blocks.
    pub checks: IndexMap<Name, Check>,
    /// `action` blocks by type and name.
    pub actions: IndexMap<(Name, Name), ActionBlock>,
    /// The backend of the state.
    pub backend: Option<Backend>,
    /// The `cloud` block, if there is one.
    pub cloud: Option<Cloud>,
    /// The encryption of states and plans; of the root module only.
    pub encryption: Option<Encryption>,
    pub(crate) encryption_block: Option<EncryptionBlock>,
    /// Versions of the program that may run this.
    pub required_versions: Vec<VersionRequirement>,
    /// Child modules by the name of their call; a child that could not be loaded is missing.
    pub children: IndexMap<Name, Arc<Module>>,
    /// The registry of providers that no requirement explains: OpenTofu's where that has worked before.
    pub(crate) default_registry: Name,
}

impl Module {
    /// The provider that manages `resource`.
    pub fn provider_for(&self, resource: &Resource) -> ProviderAddress {
        self.provider_address(&resource.local_provider().name)
    }

    /// Returns the provider address of a local name in this module.
    pub fn provider_address(&self, local_name: &str) -> ProviderAddress {
        if let Some(required) = self.required_providers.get(local_name) {
            return required.address.clone();
        }
        default_provider(local_name, &self.default_registry)
    }

    /// Returns the product whose rules decide about the single instance of `call` when `count` is added or removed.
    pub fn product_of(&self, call: &ModuleCall) -> Product {
        if &*self.default_registry == OPENTOFU_PROVIDER_HOST { Product::OpenTofu } else { call.written_for }
    }
}

/// Returns the provider address of a local name without a requirement: all in lower case.
pub(crate) fn default_provider(local_name: &str, registry: &Name) -> ProviderAddress {
    let address = ProviderAddress::default_for(&local_name.to_lowercase());
    if address.is_builtin() { address } else { ProviderAddress { hostname: registry.clone(), ..address } }
}

/// A decoded `action` block.
#[derive(Clone, Debug)]
pub struct ActionBlock {
    /// The action type's name.
    pub type_name: Name,
    /// The name of the block.
    pub name: Name,
    /// The `count` argument.
    pub count: Option<Expression>,
    /// One instance per element.
    pub for_each: Option<Expression>,
    /// The provider configuration written.
    pub provider: Option<LocalProviderRef>,
    /// The `config` block's content.
    pub config: Option<Body>,
    /// The location of the block's header.
    pub span: Span,
    /// The label that says its type.
    pub type_span: Span,
}

impl ActionBlock {
    /// The provider configuration it uses, in its module's names.
    pub fn local_provider(&self) -> LocalProvider {
        match &self.provider {
            Some(reference) => reference.provider.clone(),
            None => LocalProvider::default_of(super::resource::implied_provider(&self.type_name)),
        }
    }
}
