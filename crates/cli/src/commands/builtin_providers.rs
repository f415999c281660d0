//! Providers that are built in to this program.

use groma_address::ProviderAddress;
use groma_config::version::{Constraints, Version};
use groma_diagnostics::Diagnostics;
use groma_install::providers::{BuiltinChoice, InvalidPreference, Locks, Preference};

use super::outcome::fail;
use crate::settings::Settings;

/// The environment variable that chooses between the built-in Cloud Control provider and the plugin.
pub(super) const CHOICE: &str = "GROMA_AWSCC";

/// Whether `address` is the Cloud Control provider, which uses the address of HashiCorp's awscc provider.
pub(super) fn is_cloud_control(address: &ProviderAddress) -> bool {
    // Other registries may host a different provider under this name.
    let known_host = ["registry.terraform.io", "registry.opentofu.org"].contains(&&*address.hostname);
    known_host && &*address.namespace == "hashicorp" && &*address.type_name == "awscc"
}

/// Whether the provider is built in to this program.
pub(super) fn is_included(address: &ProviderAddress) -> bool {
    *address == ProviderAddress::builtin_terraform() || is_cloud_control(address)
}

/// Returns the user's choice between the built-in Cloud Control provider and the plugin.
///
/// # Errors
/// The variable has another value.
pub(super) fn preference(settings: &Settings) -> Result<Preference, Diagnostics> {
    let Some(text) = settings.variable(CHOICE) else { return Ok(Preference::default()) };
    text.parse().map_err(|problem: InvalidPreference| {
        fail(
            "Invalid choice of a provider",
            format!("The environment variable {CHOICE} is invalid: {problem}. Set it to one of them, or unset it."),
        )
    })
}

/// Chooses the implementation of the Cloud Control provider, whose resources are those of awscc 1.97 and later.
pub(super) fn cloud_control_choice(
    address: &ProviderAddress,
    constraints: &Constraints,
    locks: &Locks,
    preference: Preference,
) -> BuiltinChoice {
    let lock = locks.providers.get(address).map(|lock| &lock.version);
    BuiltinChoice::new(&Version::new(1, 97, 0), constraints, lock, preference)
}
