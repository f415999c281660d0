//! The environment of a run, provided by the caller.

use std::path::PathBuf;
use std::sync::Arc;

use groma_config::Configuration;
use groma_diagnostics::Sources;

use crate::cancel::Cancellation;
use crate::hooks::Hooks;
use crate::providers::ProviderSource;

/// The environment of a run: the configuration, the providers, the hooks and the limits. It is immutable for the whole run, is shared by
/// planning and applying, and is the engine's only access to the outside.
#[derive(Clone)]
pub struct Session {
    /// The loaded configuration.
    pub configuration: Arc<Configuration>,
    /// The texts it was read from.
    pub sources: Arc<Sources>,
    /// The source of providers.
    pub providers: Arc<dyn ProviderSource>,
    /// The receiver of progress reports.
    pub hooks: Arc<dyn Hooks>,
    /// The cancellation token of the run.
    pub cancellation: Cancellation,
    /// The maximal number of concurrent provider calls; at least one.
    pub parallelism: usize,
    /// The name of the workspace.
    pub workspace: String,
    /// The working directory, absolute.
    pub working_directory: PathBuf,
    /// The root module's directory, as people see it: `.` unless it is elsewhere.
    pub root_directory: PathBuf,
    /// The home directory, which replaces `~` in `pathexpand`.
    pub home_directory: Option<PathBuf>,
    /// Now, RFC 3339 in UTC.
    pub timestamp: String,
    /// The Terraform version whose language and formats are implemented, as reported to providers.
    pub terraform_version: String,
    /// The runtime on which the run waits. It outlives plan and apply, because connections of in-process providers do.
    pub runtime: Arc<tokio::runtime::Runtime>,
    /// Returns the runtime for provider calls that do not complete at once.
    pub call_runtime: Arc<dyn Fn() -> tokio::runtime::Handle + Send + Sync>,
}
