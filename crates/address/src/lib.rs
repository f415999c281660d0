//! Addresses of modules, resources, instances and providers, and the names that they consist of.
//!
//! The state file, the plan and options such as `-target` use addresses. Every type here is cheap to clone (reference
//! counts only), hashes and compares by content, sorts and displays as in Terraform, and parses its displayed form.
//! This crate knows nothing about configurations, values or files.
//!
//! Static addresses ([`ModulePath`], [`ConfigResource`]) refer to what the author wrote; absolute ones
//! ([`ModuleInstance`], [`AbsResource`], [`ResourceInstance`]) refer to what `count` and `for_each` expand to.

mod action;
mod deprecation;
mod host;
mod key;
mod module;
mod name;
mod parse;
mod provider;
mod quote;
mod resource;
mod target;

pub use action::ActionInstance;
pub use deprecation::DeprecationOrigin;
pub use host::normal_host;
pub use key::InstanceKey;
pub use module::{ModuleInstance, ModulePath, ModuleStep};
pub use name::{Name, begins_name, continues_name};
pub use parse::{
    ParseError, is_identifier, is_reserved, parse_abs_resource, parse_config_resource, parse_module_instance,
    parse_module_path, parse_provider_config, parse_resource_instance, parse_target,
};
pub use provider::{
    DEFAULT_PROVIDER_HOST, InvalidProvider, OPENTOFU_PROVIDER_HOST, ProviderAddress, ProviderConfig, ProviderPart,
};
pub use quote::{quoted, write_literal, write_literal_content, write_quoted};
pub use resource::{AbsResource, ConfigResource, Mode, Resource, ResourceInstance};
pub use target::Target;
