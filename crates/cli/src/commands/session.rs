//! Creation of an engine session.

use std::sync::Arc;

use groma_config::Configuration;
use groma_diagnostics::{Diagnostics, io_reason};
use groma_engine::{Cancellation, Hooks, Session};

use super::context::Context;
use super::outcome::fail;
use super::provider_source::Included;
use crate::clock;
use crate::settings::TERRAFORM_VERSION;

/// The default number of concurrent operations.
pub(super) const DEFAULT_PARALLELISM: usize = 10;

/// The hooks and the cancellation of a run.
pub(super) struct Watch {
    pub hooks: Arc<dyn Hooks>,
    pub cancellation: Cancellation,
    pub parallelism: usize,
}

/// The session of a run over `configuration`.
pub(super) fn session(
    context: &Context,
    configuration: Configuration,
    providers: Included,
    watch: Watch,
) -> Result<Session, Diagnostics> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|problem| {
        fail(
            "Cannot start",
            format!("The runtime of provider calls does not start: {problem}.", problem = io_reason(&problem)),
        )
    })?;
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
        timestamp: clock::now_in_seconds(),
        terraform_version: TERRAFORM_VERSION.to_owned(),
        runtime: Arc::new(runtime),
        conversations: groma_plugin::client::plugin_runtime,
    })
}
