//! Required providers, and the provider configuration of each resource.

mod inherit;
pub(crate) mod requirements;
mod used;

pub use inherit::{MissingProvider, ProviderKey, ProviderUse};
pub use requirements::{ProviderRequirement, module_requirements};

pub(crate) use inherit::resolve;
pub(crate) use requirements::requirements;
pub(crate) use used::used_blocks;
