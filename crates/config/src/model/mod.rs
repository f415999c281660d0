//! What a configuration says, block by block, once decoded.
//!
//! Expressions are kept as written; nothing here has been evaluated except what the language wants literal.

mod block;
mod module;
mod module_call;
mod named_value;
mod provider;
mod refactoring;
mod resource;
mod settings;

pub use block::{Check, Condition, ScopedData};
pub use module::{ActionBlock, ListBlock, Module};
pub use module_call::{ModuleCall, ModuleSource, PassedProvider};
pub use named_value::{Local, Output, Variable};
pub use provider::{LocalProvider, LocalProviderRef, ProviderBlock, ProviderMeta, RequiredProvider};
pub use refactoring::{Import, ImportIdentity, Moved, Removed, RemovedFrom};
pub use resource::{
    ActionTrigger, Connection, IgnoreChanges, Lifecycle, OnFailure, Provisioner, ProvisionerWhen, Resource,
};
pub use settings::{Backend, Cloud, SettingsBlock, VersionRequirement};

pub(crate) use module::default_provider;
pub(crate) use resource::implied_provider;
