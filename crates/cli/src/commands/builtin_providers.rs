//! Providers that are built in to this program.

use groma_address::ProviderAddress;

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
