//! Addresses of modules, resources, instances and providers.
//!
//! An address is what a person writes after `-target` and what the state file and the plan show. Every type here is
//! cheap to clone (reference counts only), hashes and compares by content, sorts as Terraform sorts it, displays as
//! Terraform writes it and parses that text back. This crate knows nothing of configurations, values or files.
//!
//! Static addresses ([`ModulePath`], [`ConfigResource`]) name what the author wrote; absolute ones
//! ([`ModuleInstance`], [`AbsResource`], [`ResourceInstance`]) name what `count` and `for_each` made of it.

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
