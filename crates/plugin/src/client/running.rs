//! The process of a provider: its start, which may have to wait until it is needed, and its end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use groma_address::ProviderAddress;
use groma_provider::{CallFate, ProviderDiagnostic, ProviderDiagnostics};
use tokio::task::JoinHandle;

use super::cache::SchemaCache;
use super::giving_up::started;
use super::runtime;
use super::schemas::Schemas;
use super::session::Session;
use crate::transport::{self, Launch, LogSink, Reattach};

/// How to get to a process.
#[derive(Clone, Debug)]
pub enum Start {
    /// By starting it.
    Launch(Launch),
    /// It runs already.
    Attach(Reattach),
}

/// A session, or why there is none.
pub(super) type Started = Result<Arc<Session>, ProviderDiagnostics>;

/// A session that somebody else may be waiting for too.
pub(super) type Starting = Shared<BoxFuture<'static, Started>>;

/// What it takes to begin a session.
#[derive(Clone)]
pub(super) struct Beginning {
    pub address: ProviderAddress,
    pub start: Start,
    pub log: Arc<dyn LogSink>,
    /// Where what the provider declares is kept.
    pub cache: Option<SchemaCache>,
    /// What it declares, where it need not be asked.
    pub known: Option<Arc<Schemas>>,
}

impl Beginning {
    async fn begin(self) -> Started {
        let Self { address, start, log, cache, known } = self;
        let connection = match &start {
            Start::Launch(launch) => transport::launch(launch, log).await,
            Start::Attach(reattach) => transport::attach(reattach, &address.to_string(), log).await,
        };
        let connection = connection.map_err(|error| {
            let detail = format!("The provider {address} could not be started. {error}");
            let problem = ProviderDiagnostic::error("Failed to start provider", detail);
            ProviderDiagnostics::from(problem.unanswered(CallFate::Unsent))
        })?;
        match known.filter(|schemas| schemas.protocol() == connection.protocol()) {
            Some(schemas) => Ok(Arc::new(Session::knowing(address, connection, schemas))),
            None => Session::begin(address, connection, cache.as_ref()).await.map(Arc::new),
        }
    }
}

/// A process that runs from its first use on. Dropping it ends the process, unless somebody else had started it.
pub(super) struct Running {
    beginning: Beginning,
    session: OnceLock<(u64, Starting)>,
}

impl Running {
    pub fn new(beginning: Beginning) -> Self {
        Self { beginning, session: OnceLock::new() }
    }

    /// The session, which begins in the background now if it has not yet.
    pub fn session(&self) -> Starting {
        self.session.get_or_init(|| register(begun(self.beginning.clone()))).1.clone()
    }

    /// Begins it in the background, so that it is there when it is needed.
    pub fn begin(&self) {
        drop(self.session());
    }

    /// Whether the process ran and has ended.
    pub fn has_ended(&self) -> bool {
        let session = self.session.get().and_then(|(_, session)| session.peek().cloned());
        session.is_some_and(|session| session.is_ok_and(|session| session.has_ended()))
    }

    /// The session, if it has begun.
    pub fn begun(&self) -> Option<Starting> {
        self.session.get().map(|(_, session)| session.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some((number, _)) = self.session.get() else { return };
        let standing = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(number);
        wait_for_the_end_of(standing);
    }
}

fn begun(beginning: Beginning) -> Starting {
    match runtime::handle() {
        Ok(runtime) => {
            let task = runtime.spawn(started(beginning.begin()));
            async move { task.await.unwrap_or_else(|error| Err(not_started(&error.to_string()))) }.boxed().shared()
        }
        Err(problem) => {
            let problem = not_started(problem);
            async move { Err(problem) }.boxed().shared()
        }
    }
}

/// Reports that calls of the provider cannot be made.
pub(super) fn not_started(problem: &str) -> ProviderDiagnostics {
    not_called(problem, CallFate::Unsent)
}

/// Reports that a call that was begun ended without an answer.
pub(super) fn broken_off() -> ProviderDiagnostics {
    not_called("the call was given up", CallFate::Lost)
}

fn not_called(problem: &str, fate: CallFate) -> ProviderDiagnostics {
    let detail = format!("The provider could not be called: {problem}.");
    ProviderDiagnostic::error("Failed to talk to provider", detail).unanswered(fate).into()
}

/// How a process of this program stands.
enum Standing {
    Runs(Starting),
    /// It has been asked to end.
    Ends(JoinHandle<()>),
}

impl Standing {
    /// Asks the process to end if nobody has yet.
    fn ending(self) -> Option<JoinHandle<()>> {
        match self {
            Self::Runs(session) => runtime::handle().ok().map(|runtime| runtime.spawn(ended(session))),
            Self::Ends(ending) => Some(ending),
        }
    }
}

/// The processes whose end nobody has waited for yet, by a number of their own.
static RUNNING: Mutex<BTreeMap<u64, Standing>> = Mutex::new(BTreeMap::new());

fn register(session: Starting) -> (u64, Starting) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).insert(number, Standing::Runs(session.clone()));
    (number, session)
}

/// Asks all processes to end, and waits for none: for a program that calls no provider any more but has other things to do,
/// such as writing down what they answered. It is [`end_all`] that waits.
pub fn end_ahead() {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let standing = std::mem::take(&mut *running).into_iter();
    *running = standing.filter_map(|(number, standing)| Some((number, Standing::Ends(standing.ending()?)))).collect();
}

/// Ends all processes at once, and waits until they are gone: for a program that ends without dropping its providers.
pub fn end_all() {
    let running = std::mem::take(&mut *RUNNING.lock().unwrap_or_else(PoisonError::into_inner));
    wait_for_the_end_of(running.into_values());
}

fn wait_for_the_end_of(processes: impl IntoIterator<Item = Standing>) {
    // All are asked before one is waited for.
    let endings: Vec<_> = processes.into_iter().filter_map(Standing::ending).collect();
    for ending in endings {
        // Only the end of the program's own threads could break it off.
        let _ = runtime::wait(ending);
    }
}

async fn ended(session: Starting) {
    if let Ok(session) = session.await {
        session.shutdown().await;
    }
}
