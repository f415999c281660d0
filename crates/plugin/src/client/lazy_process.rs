//! The lazily started process of a provider, and the orderly shutdown of all processes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use groma_address::ProviderAddress;
use groma_provider::{CallFate, ProviderDiagnostic, ProviderDiagnostics};
use tokio::task::JoinHandle;

use super::cache::SchemaCache;
use super::cancellation::unless_cancelled_start;
use super::runtime;
use super::schemas::Schemas;
use super::session::Session;
use crate::transport::{self, Launch, LogSink, Reattach};

/// The means to reach a provider process.
#[derive(Clone, Debug)]
pub enum Start {
    /// Launch the executable.
    Launch(Launch),
    /// Attach to a running process, from `TF_REATTACH_PROVIDERS`.
    Attach(Reattach),
}

/// A session, or the reason why it could not be opened.
pub(super) type Started = Result<Arc<Session>, ProviderDiagnostics>;

/// A session that is being opened, shared between all waiting calls.
pub(super) type Starting = Shared<BoxFuture<'static, Started>>;

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
    async fn open(self) -> Started {
        let Self { address, start, log, cache, known } = self;
        let connection = match &start {
            Start::Launch(launch) => transport::launch(launch, log).await,
            Start::Attach(reattach) => transport::attach(reattach, &address.to_string(), log).await,
        };
        let connection = connection.map_err(|error| {
            let detail = format!("Cannot start the provider {address}. {error}");
            ProviderDiagnostics::from(
                ProviderDiagnostic::error("Failed to start provider", detail).unanswered(CallFate::Unsent),
            )
        })?;
        // Cached schemas are encoded for one protocol version; another one needs a fresh request.
        match known.filter(|schemas| schemas.protocol() == connection.protocol()) {
            Some(schemas) => Ok(Arc::new(Session::with_schemas(address, connection, schemas))),
            None => Session::open(address, connection, cache.as_ref()).await.map(Arc::new),
        }
    }
}

/// A process that starts on first use. Dropping it shuts the process down, unless it was attached to.
pub(super) struct LazyProcess {
    setup: SessionSetup,
    session: OnceLock<(u64, Starting)>,
}

impl LazyProcess {
    pub fn new(setup: SessionSetup) -> Self {
        Self { setup, session: OnceLock::new() }
    }

    /// Returns the session, and starts opening it in the background if necessary.
    pub fn session(&self) -> Starting {
        self.session.get_or_init(|| register(spawn_session(self.setup.clone()))).1.clone()
    }

    /// Starts opening the session in the background, so that it is ready when needed.
    pub fn start(&self) {
        drop(self.session());
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
        let Some((number, _)) = self.session.get() else { return };
        let state = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner).remove(number);
        wait_for_exit(state);
    }
}

fn spawn_session(setup: SessionSetup) -> Starting {
    match runtime::handle() {
        Ok(runtime) => {
            let task = runtime.spawn(unless_cancelled_start(setup.open()));
            async move { task.await.unwrap_or_else(|error| Err(not_begun(&error.to_string()))) }.boxed().shared()
        }
        Err(problem) => {
            let problem = not_begun(&problem.to_string());
            async move { Err(problem) }.boxed().shared()
        }
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

/// The state of a process that this program started.
enum ProcessState {
    Running(Starting),
    /// The shutdown was requested.
    ShuttingDown(JoinHandle<()>),
}

impl ProcessState {
    /// Requests the shutdown unless it already was.
    fn shut_down(self) -> Option<JoinHandle<()>> {
        match self {
            Self::Running(session) => runtime::handle().ok().map(|runtime| runtime.spawn(shut_down(session))),
            Self::ShuttingDown(shutdown) => Some(shutdown),
        }
    }
}

/// The processes whose exit was not awaited yet, by an arbitrary number.
static PROCESSES: Mutex<BTreeMap<u64, ProcessState>> = Mutex::new(BTreeMap::new());

fn register(session: Starting) -> (u64, Starting) {
    // Numbers are never reused, so a dropped provider cannot remove the entry of a later one.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    PROCESSES.lock().unwrap_or_else(PoisonError::into_inner).insert(number, ProcessState::Running(session.clone()));
    (number, session)
}

/// Requests the shutdown of all processes without waiting: for a program that needs no further provider calls but still
/// has work to do, such as writing the state. [`shutdown_all`] waits.
pub fn begin_shutdown_all() {
    let mut running = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
    let state = std::mem::take(&mut *running).into_iter();
    *running =
        state.filter_map(|(number, state)| Some((number, ProcessState::ShuttingDown(state.shut_down()?)))).collect();
}

/// Shuts all processes down and waits for their exit: for a program that exits without dropping its providers.
pub fn shutdown_all() {
    let running = std::mem::take(&mut *PROCESSES.lock().unwrap_or_else(PoisonError::into_inner));
    wait_for_exit(running.into_values());
}

fn wait_for_exit(processes: impl IntoIterator<Item = ProcessState>) {
    // Request all shutdowns before awaiting the first, so that they run concurrently.
    let shutdowns: Vec<_> = processes.into_iter().filter_map(ProcessState::shut_down).collect();
    for shutdown in shutdowns {
        // The task fails only if the runtime thread itself has ended.
        let _ = runtime::wait(shutdown);
    }
}

async fn shut_down(session: Starting) {
    if let Ok(session) = session.await {
        session.shutdown().await;
    }
}
