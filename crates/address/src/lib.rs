//! Addresses of modules, resources, instances and providers.
//!
//! The state file, the plan and options such as `-target` use addresses. Every type here is cheap to clone (reference
//! counts only), hashes and compares by content, sorts and displays as in Terraform, and parses its displayed form.
//! This crate knows nothing about configurations, values or files.
//!
//! Static addresses ([`ModulePath`], [`ConfigResource`]) refer to what the author wrote; absolute ones
//! ([`ModuleInstance`], [`AbsResource`], [`ResourceInstance`]) refer to what `count` and `for_each` expand to.

mod host;
mod key;
mod module;
mod parse;
mod provider;
mod resource;
mod target;

pub use groma_diagnostics::Name;
pub use host::normal_host;
pub use key::InstanceKey;
pub use module::{ModuleInstance, ModulePath, ModuleStep};
pub use parse::{
    ParseError, is_identifier, is_reserved, parse_abs_resource, parse_config_resource, parse_module_instance,
    parse_module_path, parse_provider_config, parse_resource_instance, parse_target,
};
pub use provider::{
    DEFAULT_PROVIDER_HOST, InvalidProvider, OPENTOFU_PROVIDER_HOST, ProviderAddress, ProviderConfig, ProviderPart,
};
pub use resource::{AbsResource, ConfigResource, Mode, Resource, ResourceInstance};
pub use target::Target;
