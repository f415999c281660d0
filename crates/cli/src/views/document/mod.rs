//! JSON documents of `show -json` and `providers schema -json`.

mod body;
mod configuration;
mod plan;
mod provider;
mod provider_config;

pub use body::Schemas;
pub use configuration::{lone_module_json, whole_configuration_json};
pub use plan::plan_json;
pub use provider::ProviderSchemas;
