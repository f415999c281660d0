//! Documents of `show -json` and `providers schema -json`.

mod body;
mod configuration;
mod expression;
mod path;
mod plan;
mod provider;
mod provider_config;

pub use configuration::Schemas;
pub use plan::{plan_json, schemas};
pub use provider::provider_json;
