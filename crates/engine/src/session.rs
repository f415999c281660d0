//! What a run works with: handed in by whoever starts it.

use std::path::PathBuf;
use std::sync::Arc;

use groma_config::Configuration;
use groma_diagnostics::Sources;

use crate::cancel::Cancellation;
use crate::hooks::Hooks;
use crate::providers::ProviderSource;

/// A run's surroundings.
#[derive(Clone)]
pub struct Session {
    /// What the author wrote.
    pub configuration: Arc<Configuration>,
    /// The texts it was read from.
    pub sources: Arc<Sources>,
    /// Where providers come from.
    pub providers: Arc<dyn ProviderSource>,
    /// Who is told about progress.
    pub hooks: Arc<dyn Hooks>,
    /// How the run is stopped.
    pub cancellation: Cancellation,
    /// How many conversations with providers go on at once; at least one.
    pub parallelism: usize,
    /// The name of the workspace.
    pub workspace: String,
    /// The working directory, absolute.
    pub working_directory: PathBuf,
    /// The root module's directory, as people see it: `.` unless it is elsewhere.
    pub root_directory: PathBuf,
    /// What `~` stands for.
    pub home_directory: Option<PathBuf>,
    /// Now, RFC 3339 in UTC.
    pub timestamp: String,
    /// The version of Terraform whose language and formats are spoken: what providers are told.
    pub terraform_version: String,
    /// Where the run waits; outlives plan and apply, because connections of providers in this process do.
    pub runtime: Arc<tokio::runtime::Runtime>,
    /// Where conversations with providers go on that have to wait.
    pub conversations: fn() -> tokio::runtime::Handle,
}
