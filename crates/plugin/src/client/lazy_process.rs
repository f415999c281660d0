//! The lazily started process of a provider.

use std::sync::{Arc, OnceLock};

use futures_util::FutureExt;
use groma_address::ProviderAddress;
use groma_provider::{CallFate, ProviderDiagnostic, ProviderDiagnostics};

use super::cache::SchemaCache;

use super::host::{CallCancellation, PluginHost, ProcessNumber};
use super::schemas::Schemas;
use super::session::{Session, Started, Starting};
use crate::transport::{self, Launch, LogSink, Reattach};

/// The means to reach a provider process.
#[derive(Clone, Debug)]
pub enum Start {
    /// Launch the executable of an installed package.
    Launch(Launch),
    /// Attach to a running process, from `TF_REATTACH_PROVIDERS`.
    Attach(Reattach),
}

/// The parameters of a session.
#[derive(Clone)]
pub(super) struct SessionSetup {
    pub address: ProviderAddress,
    pub start: Start,
    pub log: Arc<dyn LogSink>,
    /// The cache for the schemas, if there is one.
    pub cache: Option<SchemaCache>,
    /// The schemas, if they are cached.
    pub known: Option<Arc<Schemas>>,
}

impl SessionSetup {
    async fn open(self, cancellation: CallCancellation) -> Started {
        let Self { address, start, log, cache, known } = self;
        let connection = match &start {
            Start::Launch(launch) => transport::launch(launch, log).await,
            Start::Attach(reattach) => transport::attach(reattach, &address.to_string(), log).await,
        };
        let connection = connection.map_err(|error| {
            let detail = format!("Cannot start the provider {address}. {error}");
            ProviderDiagnostics::from(
                // Nothing was sent, so the engine knows that no object was touched.
                ProviderDiagnostic::error("Failed to start provider", detail).unanswered(CallFate::Unsent),
            )
        })?;
        // Cached schemas are encoded for one protocol version; another one needs a fresh request.
        match known.filter(|schemas| schemas.protocol() == connection.protocol()) {
            Some(schemas) => Ok(Arc::new(Session::with_schemas(address, connection, cancellation, schemas))),
            None => Session::open(address, connection, cancellation, cache.as_ref()).await.map(Arc::new),
        }
    }
}

/// A process that starts on first use. Dropping it shuts the process down, unless it was attached to.
pub(super) struct LazyProcess {
    host: Arc<PluginHost>,
    setup: SessionSetup,
    session: OnceLock<(ProcessNumber, Starting)>,
}

impl LazyProcess {
    pub fn new(host: Arc<PluginHost>, setup: SessionSetup) -> Self {
        Self { host, setup, session: OnceLock::new() }
    }

    /// Returns the session, and starts opening it in the background if necessary.
    pub fn session(&self) -> Starting {
        self.session.get_or_init(|| self.open_in_background()).1.clone()
    }

    /// Starts opening the session in the background, so that it is ready when needed.
    pub fn start(&self) {
        drop(self.session());
    }

    fn open_in_background(&self) -> (ProcessNumber, Starting) {
        let session: Starting = match self.host.handle() {
            Ok(runtime) => {
                // The task does not own the host: it would keep its own runtime alive.
                let cancellation = self.host.cancellation();
                let open = self.setup.clone().open(cancellation.clone());
                let task = runtime.spawn(async move { cancellation.unless_start_cancelled(open).await });
                async move { task.await.unwrap_or_else(|error| Err(not_begun(&error.to_string()))) }.boxed().shared()
            }
            // The error becomes the session, so that every call of this provider reports it.
            Err(problem) => {
                let problem = not_begun(&problem.to_string());
                async move { Err(problem) }.boxed().shared()
            }
        };
        // Registered while it still starts: a shutdown in between must end that process too.
        (self.host.register(session.clone()), session)
    }

    /// Returns the host of the process.
    pub fn host(&self) -> &Arc<PluginHost> {
        &self.host
    }

    /// Whether the process was started and has ended.
    pub fn has_ended(&self) -> bool {
        let session = self.session.get().and_then(|(_, session)| session.peek().cloned());
        session.is_some_and(|session| session.is_ok_and(|session| session.has_ended()))
    }

    /// Returns the session if it was requested before.
    pub fn session_if_started(&self) -> Option<Starting> {
        self.session.get().map(|(_, session)| session.clone())
    }
}

impl Drop for LazyProcess {
    fn drop(&mut self) {
        // A process that was never needed was never started.
        let Some((number, _)) = self.session.get() else { return };
        self.host.shutdown(*number);
    }
}

/// Returns the error for a call that could not be sent.
pub(super) fn not_begun(problem: &str) -> ProviderDiagnostics {
    call_error(problem, CallFate::Unsent)
}

/// Returns the error for a call that was sent and abandoned without an answer.
pub(super) fn no_response() -> ProviderDiagnostics {
    call_error("its task ended unexpectedly", CallFate::NoResponse)
}

fn call_error(problem: &str, fate: CallFate) -> ProviderDiagnostics {
    let detail = format!("Cannot run the provider call: {problem}.");
    ProviderDiagnostic::error("Failed to call provider", detail).unanswered(fate).into()
}
