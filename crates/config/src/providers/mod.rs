//! Provider requirements of a configuration, and the provider configuration that each resource uses.

mod inherit;
pub(crate) mod requirements;

pub use inherit::{MissingProvider, ProviderKey, ProviderUse};
pub use requirements::{ProviderRequirement, module_requirements};

pub(crate) use inherit::resolve;
pub(crate) use requirements::requirements;
pub(crate) use requirements::used_blocks;
