//! The host of plugin processes: their runtime thread, their shutdown, and the cancellation of their calls.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groma_diagnostics::io_reason;
use groma_provider::{Answer, ProviderDiagnostic, ProviderDiagnostics};
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::watch::{Receiver, Sender};
use tokio::task::JoinHandle;
use tonic::Status;

use super::session::Starting;

/// A provider call as a task.
///
/// Boxed to a single type: otherwise tokio's task machinery would be monomorphized for every call.
pub(super) type CallTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The plugin processes of one command.
///
/// The command owns the host and passes it to [`Plugin::start`](super::Plugin::start). The host runs all communication
/// with its processes on one thread of its own, which starts with the first process. The thread is separate from the
/// engine's threads, so that the engine can block on a schema in the middle of its work, and so that messages are
/// encoded and decoded while the engine evaluates.
///
/// A plugin shuts its process down when it is dropped. A command that exits without dropping its plugins calls
/// [`shutdown_all`](Self::shutdown_all) instead, and a command that must stop immediately calls
/// [`cancel_all`](Self::cancel_all). Processes that the command only attached to keep running in both cases.
pub struct PluginHost {
    runtime: OnceLock<Result<PluginRuntime, HostError>>,
    /// The processes whose exit was not awaited yet.
    processes: Mutex<BTreeMap<ProcessNumber, ProcessState>>,
    next: AtomicU64,
    cancelled: Sender<bool>,
}

/// The identity of a process within its host. Numbers are never reused, so a dropped plugin cannot remove the entry of
/// a later one.
pub(super) type ProcessNumber = u64;

/// The handle of the runtime, and the queue of its tasks.
struct PluginRuntime {
    handle: Handle,
    calls: UnboundedSender<CallTask>,
}

/// The reason why the runtime thread cannot start.
#[derive(Debug, thiserror::Error)]
pub(super) enum HostError {
    /// The operating system provides no event queue.
    #[error("{}", io_reason(.0))]
    EventQueue(io::Error),
    /// The operating system provides no thread.
    #[error("cannot start a thread: {}", io_reason(.0))]
    Thread(io::Error),
}

/// The state of a process that the host started.
enum ProcessState {
    Running(Starting),
    /// The shutdown was requested.
    ShuttingDown(JoinHandle<()>),
}

impl PluginHost {
    /// Creates a host without processes. It starts its thread with the first process.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            runtime: OnceLock::new(),
            processes: Mutex::default(),
            next: AtomicU64::new(0),
            cancelled: Sender::new(false),
        })
    }

    /// Returns the runtime for tasks that communicate with plugin processes without waking another thread, or the
    /// caller's runtime if no process was started.
    ///
    /// # Panics
    ///
    /// Panics if the caller is outside of a runtime and no process was started.
    pub fn call_runtime(&self) -> Handle {
        match self.runtime.get() {
            // A task on the runtime of the processes is answered on its own thread, which saves two wakeups for each
            // call.
            Some(Ok(runtime)) => runtime.handle.clone(),
            _ => Handle::current(),
        }
    }

    /// Fails all calls in flight, all later calls and all process starts immediately.
    pub fn cancel_all(&self) {
        // `send_replace` also stores the value when no call is in flight, for the later ones.
        self.cancelled.send_replace(true);
    }

    /// Requests the shutdown of all processes without waiting: for a program that needs no further provider calls but
    /// still has work to do, such as writing the state. [`shutdown_all`](Self::shutdown_all) waits.
    pub fn begin_shutdown_all(&self) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let states = std::mem::take(&mut *processes).into_iter();
        *processes = states
            .filter_map(|(number, state)| Some((number, ProcessState::ShuttingDown(self.request_shutdown(state)?))))
            .collect();
    }

    /// Shuts all processes down and waits for their exit: for a program that exits without dropping its plugins.
    pub fn shutdown_all(&self) {
        let processes = std::mem::take(&mut *self.processes.lock().unwrap_or_else(PoisonError::into_inner));
        // Request all shutdowns before awaiting the first, so that they run concurrently.
        let shutdowns: Vec<_> = processes.into_values().filter_map(|state| self.request_shutdown(state)).collect();
        for shutdown in shutdowns {
            // The task fails only if the runtime thread itself has ended.
            let _ = wait(shutdown);
        }
    }

    /// Returns the receiver of [`cancel_all`](Self::cancel_all).
    pub(super) fn cancellation(&self) -> CallCancellation {
        CallCancellation::new(self.cancelled.subscribe())
    }

    /// Returns the runtime, and starts its thread on first use.
    ///
    /// # Errors
    ///
    /// The operating system provides no thread or no event queue.
    pub(super) fn handle(&self) -> Result<&Handle, &HostError> {
        self.runtime().map(|runtime| &runtime.handle)
    }

    /// Queues a provider call. One wakeup of the runtime thread serves all calls queued before it runs.
    ///
    /// # Errors
    ///
    /// The errors of [`handle`](Self::handle).
    pub(super) fn spawn(&self, call: CallTask) -> Result<(), &HostError> {
        // The receiver lives as long as the host.
        self.runtime().map(|runtime| _ = runtime.calls.send(call))
    }

    /// Takes responsibility for the shutdown of a process.
    pub(super) fn register(&self, session: Starting) -> ProcessNumber {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).insert(number, ProcessState::Running(session));
        number
    }

    /// Shuts one process down and waits for its exit.
    pub(super) fn shutdown(&self, number: ProcessNumber) {
        let state = self.processes.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        if let Some(shutdown) = state.and_then(|state| self.request_shutdown(state)) {
            // The task fails only if the runtime thread itself has ended.
            let _ = wait(shutdown);
        }
    }

    fn request_shutdown(&self, state: ProcessState) -> Option<JoinHandle<()>> {
        match state {
            ProcessState::Running(session) => self.handle().ok().map(|runtime| runtime.spawn(shut_down(session))),
            // A second request waits for the shutdown that is under way.
            ProcessState::ShuttingDown(shutdown) => Some(shutdown),
        }
    }

    fn runtime(&self) -> Result<&PluginRuntime, &HostError> {
        // A failed start is kept: every later call reports the same cause.
        self.runtime.get_or_init(start_runtime).as_ref()
    }
}

fn start_runtime() -> Result<PluginRuntime, HostError> {
    // A single thread: the work is I/O and decoding, and one thread avoids wakeups between workers.
    let runtime = Builder::new_current_thread().enable_all().build().map_err(HostError::EventQueue)?;
    let handle = runtime.handle().clone();
    let (calls, mut queue) = unbounded_channel::<CallTask>();
    let work = move || {
        runtime.block_on(async {
            // The loop ends when the host is dropped, and with it the thread and all tasks.
            while let Some(call) = queue.recv().await {
                tokio::spawn(call);
            }
        });
    };
    std::thread::Builder::new().name("plugins".to_owned()).spawn(work).map_err(HostError::Thread)?;
    Ok(PluginRuntime { handle, calls })
}

async fn shut_down(session: Starting) {
    if let Ok(session) = session.await {
        // A session that failed to open has killed its process already.
        session.shutdown().await;
    }
}

/// Blocks this thread until the future, which needs the runtime thread, completes.
pub(super) fn wait<T: Unpin>(future: impl Future<Output = T> + Send) -> T {
    Answer::pending(future).wait()
}

/// The receiver of a host's request to abandon all provider calls.
#[derive(Clone)]
pub(super) struct CallCancellation(Receiver<bool>);

impl CallCancellation {
    pub fn new(cancelled: Receiver<bool>) -> Self {
        Self(cancelled)
    }

    /// Awaits a call unless it is cancelled.
    pub async fn unless_cancelled<T>(&self, call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
        self.first(call).await.unwrap_or_else(|| Err(Status::cancelled("the call was abandoned")))
    }

    /// Awaits the start of a process unless it is cancelled.
    pub async fn unless_start_cancelled<T>(
        &self,
        start: impl Future<Output = Result<T, ProviderDiagnostics>>,
    ) -> Result<T, ProviderDiagnostics> {
        self.first(start).await.unwrap_or_else(|| {
            let detail = "The run was cancelled before the provider was ready.";
            Err(ProviderDiagnostic::error("Request cancelled", detail).into())
        })
    }

    async fn first<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut cancelled = self.0.clone();
        let cancelled = async move {
            // A host that has disconnected cannot cancel any more.
            if cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            // A result that is already available takes precedence over the cancellation.
            biased;
            result = work => Some(result),
            () = cancelled => None,
        }
    }
}
