//! Decoded blocks of a configuration.
//!
//! Expressions are kept as written. Nothing here has been evaluated, except arguments that the language requires to be
//! constant.

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

pub use encryption::{Encryption, EncryptionMethods};
pub use module::{ActionBlock, Declared, Module};
pub use module_call::{ModuleCall, PassedProvider, Product};
pub use named_value::{Check, Condition, ScopedData};
pub use named_value::{Local, Output, Variable};
pub use provider::{LocalProvider, LocalProviderRef, ProviderBlock, ProviderMeta, RequiredProvider};
pub use refactoring::{Import, ImportIdentity, Moved, Removed, RemovedFrom};
pub use resource::{
    ActionTrigger, Connection, IgnoreChanges, Lifecycle, OnFailure, Provisioner, ProvisionerWhen, Resource, Search,
};
pub use settings::{Backend, UnusableReason, UnusableVariable, VersionRequirement};
pub use testing::{Override, OverrideTarget, RunModule};

pub(crate) use module::default_provider;
pub(crate) use resource::implied_provider;
