//! Documents of `show -json` and `providers schema -json`.

mod configuration;
mod expression;
mod plan;
mod provider;

pub use plan::plan_json;
pub use provider::provider_json;
