//! The providers that are part of this program.

use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_builtin::Terraform;
use groma_cloudcontrol::AwsCloudControl;
use groma_diagnostics::Diagnostic;
use groma_engine::ProviderSource;
use groma_provider::Provider;

use super::packages::Packages;

/// Starts the providers that need no installation, unless a package was chosen instead.
#[derive(Clone, Debug, Default)]
pub(super) struct Included {
    packages: Packages,
}

impl Included {
    /// Those that give way to no package of `packages`.
    pub fn unless(packages: Packages) -> Self {
        Self { packages }
    }
}

/// Whether `address` is the Cloud Control provider, which answers to the address of the existing one.
pub(super) fn is_cloud_control(address: &ProviderAddress) -> bool {
    let known_host = ["registry.terraform.io", "registry.opentofu.org"].contains(&&*address.hostname);
    known_host && &*address.namespace == "hashicorp" && &*address.type_name == "awscc"
}

/// Whether the provider is part of this program.
pub(super) fn is_included(address: &ProviderAddress) -> bool {
    address.is_builtin() || is_cloud_control(address)
}

impl ProviderSource for Included {
    fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, Diagnostic> {
        if *address == ProviderAddress::builtin_terraform() {
            return Ok(Arc::new(Terraform));
        }
        if let Some(reason) = self.packages.reason(address).filter(|_| is_cloud_control(address)) {
            return Err(chosen_package(address, reason));
        }
        if is_cloud_control(address) {
            return Ok(Arc::new(AwsCloudControl::default().served()));
        }
        Err(Diagnostic::error(
            "Provider not available",
            format!(
                "The configuration or the state needs the provider {address}. This version of Groma has the providers \
                 terraform.io/builtin/terraform and registry.terraform.io/hashicorp/awscc built in and does not start provider packages \
                 yet."
            ),
        ))
    }
}

/// The built-in provider must not stand in for a package that somebody has asked for.
pub(super) fn chosen_package(address: &ProviderAddress, reason: &str) -> Diagnostic {
    let detail = format!(
        "A package of the provider {address} was chosen by {reason}, so the one that is built in gives way to it. This version of Groma \
         does not start provider packages yet: to use what is built in, remove the version constraint, the lock file's entry or the \
         override."
    );
    Diagnostic::error("Provider not available", detail)
}
