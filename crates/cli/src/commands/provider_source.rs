//! The source of providers for the engine: packages, running processes and built-in providers.

use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_backend::Host;
use groma_builtin::Terraform;
use groma_cloudcontrol::AwsCloudControl;
use groma_diagnostics::Diagnostic;
use groma_encryption::RemoteEncryption;
use groma_engine::ProviderSource;
use groma_install::providers::Selection;
use groma_provider::Provider;

use super::builtin_providers::is_cloud_control;
use super::cloudcontrol::catalogue;
use super::packages::Packages;

/// Starts providers from packages, or built-in ones where no package is selected.
#[derive(Clone)]
pub(super) struct Included {
    packages: Packages,
    remote: RemoteEncryption,
    host: Host,
    detail: Detail,
}

/// The amount of data in the schemas of the built-in Cloud Control provider.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Detail {
    /// Types, without the descriptions, which no run needs.
    #[default]
    Types,
    /// Types and descriptions.
    Descriptions,
}

impl Included {
    /// Creates a source in which `packages` take precedence over built-in providers.
    pub fn unless(packages: Packages) -> Self {
        Self { packages, remote: RemoteEncryption::default(), host: Host::default(), detail: Detail::default() }
    }

    /// Sets the amount of data in schemas.
    pub fn with_detail(self, detail: Detail) -> Self {
        Self { detail, ..self }
    }

    /// Sets the encryption for reading remote states with `terraform_remote_state`.
    pub fn with_encryption(self, remote: RemoteEncryption) -> Self {
        Self { remote, ..self }
    }

    /// Sets the surroundings of the backends that `terraform_remote_state` reads.
    pub fn with_host(self, host: Host) -> Self {
        Self { host, ..self }
    }
}

impl ProviderSource for Included {
    fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, Diagnostic> {
        if *address == ProviderAddress::builtin_terraform() {
            return Ok(Arc::new(
                Terraform::default().with_encryption(self.remote.clone()).with_host(self.host.clone()),
            ));
        }
        match self.packages.selection(address) {
            Some(Selection::Builtin) => {}
            Some(Selection::Reattach) => {
                return self.packages.plugins().attach(address).ok_or_else(|| not_required(address));
            }
            Some(Selection::Override(folder)) => return self.packages.plugins().launch(address, &folder, None),
            Some(Selection::Package { folder, verified, .. }) => {
                return self.packages.plugins().launch(address, &folder, verified.as_deref());
            }
            None if is_cloud_control(address) && self.packages.missing().is_none() => {}
            None => return Err(self.packages.problem_with(address).unwrap_or_else(|| not_required(address))),
        }
        let catalogue = catalogue(self.packages.schemas())?;
        let catalogue = match self.detail {
            Detail::Types => catalogue,
            Detail::Descriptions => Arc::new(catalogue.described()),
        };
        Ok(Arc::new(AwsCloudControl::new(catalogue).served()))
    }
}

/// Returns the error for a provider that only the state refers to, and that the lock file does not select.
fn not_required(address: &ProviderAddress) -> Diagnostic {
    let detail = format!(
        "The state contains objects of the provider {address}, which the configuration does not require and which is not installed. Run \
         init, which also installs the providers that the state requires."
    );
    Diagnostic::error("Missing required provider", detail)
}
