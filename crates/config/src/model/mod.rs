//! The decoded configuration, block by block.
//!
//! Expressions are kept as written; nothing here has been evaluated except what the language wants literal.

pub(crate) mod block;
pub(crate) mod encryption;
pub(crate) mod module;
pub(crate) mod module_call;
pub(crate) mod named_value;
mod names;
pub(crate) mod provider;
pub(crate) mod refactoring;
pub(crate) mod resource;
pub(crate) mod settings;
pub(crate) mod testing;

pub use block::{Check, Condition, ScopedData};
pub use encryption::{Encryption, EncryptionMethods};
pub use module::{ActionBlock, Declared, Module};
pub use module_call::{ModuleCall, PassedProvider, Product};
pub use named_value::{Local, Output, Variable};
pub use provider::{LocalProvider, LocalProviderRef, ProviderBlock, ProviderMeta, RequiredProvider};
pub use refactoring::{Import, ImportIdentity, Moved, Removed, RemovedFrom};
pub use resource::{
    ActionTrigger, Connection, IgnoreChanges, Lifecycle, OnFailure, Provisioner, ProvisionerWhen, Resource, Search,
};
pub use settings::{Backend, Cloud, VersionRequirement};
pub use testing::{Override, OverrideTarget, RunModule};

pub(crate) use module::default_provider;
pub(crate) use resource::implied_provider;
