//! Creates the session of an engine run, with its source of providers: packages, running processes and built-in providers.

use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_backend::Host;
use groma_builtin::Terraform;
use groma_cloudcontrol::AwsCloudControl;
use groma_config::Configuration;
use groma_diagnostics::{Diagnostic, Diagnostics, io_reason};
use groma_encryption::RemoteEncryption;
use groma_engine::{Cancellation, Hooks, ProviderSource, Session};
use groma_install::providers::Selection;
use groma_provider::{Provider, TERRAFORM_VERSION};

use super::builtin_providers::is_cloud_control;
use super::context::Context;
use super::outcome::fail;
use super::packages::Packages;
use crate::clock;

/// Default number of concurrent operations.
pub(super) const DEFAULT_PARALLELISM: usize = 10;

/// Hooks and limits of a run.
pub(super) struct Watch {
    pub hooks: Arc<dyn Hooks>,
    pub cancellation: Cancellation,
    pub parallelism: usize,
}

/// Creates the session of a run over `configuration`.
pub(super) fn session(
    context: &Context,
    configuration: Configuration,
    providers: Included,
    watch: Watch,
) -> Result<Session, Diagnostics> {
    // The runtime of the walk; calls of plugins run on the host's thread instead.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|problem| {
        fail("Cannot start the async runtime", format!("{problem}.", problem = io_reason(&problem)))
    })?;
    let host = Arc::clone(&context.plugin_host);
    Ok(Session {
        configuration: Arc::new(configuration),
        sources: Arc::clone(&context.sources),
        providers: Arc::new(providers),
        hooks: watch.hooks,
        cancellation: watch.cancellation,
        parallelism: watch.parallelism,
        workspace: context.settings.workspace.clone(),
        working_directory: context.original_directory.clone(),
        root_directory: context.root_directory.clone(),
        home_directory: context.settings.home.clone(),
        // One timestamp per run, so that plantimestamp() is constant.
        timestamp: clock::now_in_seconds(),
        terraform_version: TERRAFORM_VERSION.to_owned(),
        runtime: Arc::new(runtime),
        call_runtime: Arc::new(move || host.call_runtime()),
    })
}

/// Starts providers from packages, or built-in ones where no package is selected.
#[derive(Clone)]
pub(super) struct Included {
    packages: Packages,
    remote: RemoteEncryption,
    host: Host,
}

impl Included {
    /// Creates a source in which `packages` take precedence over built-in providers.
    pub fn unless(packages: Packages) -> Self {
        Self { packages, remote: RemoteEncryption::default(), host: Host::default() }
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
    // The built-in provider needs no package and knows the encryption of remote states.
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
            // An override is a build in development: its schemas are not cached, because it changes without a new
            // version.
            Some(Selection::Override(folder)) => return self.packages.plugins().launch(address, &folder, None),
            Some(Selection::Package { folder, verified, .. }) => {
                return self.packages.plugins().launch(address, &folder, verified.as_deref());
            }
            // The state alone needs Cloud Control; without other missing packages the built-in one is meant.
            None if is_cloud_control(address) && self.packages.missing().is_none() => {}
            None => return Err(self.packages.problem_with(address).unwrap_or_else(|| not_required(address))),
        }
        Ok(Arc::new(AwsCloudControl::default().served()))
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
