//! Creates the session of an engine run.

use std::sync::Arc;

use groma_config::Configuration;
use groma_diagnostics::{Diagnostics, io_reason};
use groma_engine::{Cancellation, Hooks, Session};
use groma_provider::TERRAFORM_VERSION;

use super::context::Context;
use super::outcome::fail;
use super::provider_source::Included;
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
