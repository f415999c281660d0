//! The runtime thread for communication with plugin processes.
//!
//! It is separate from the engine's threads, so that the engine can block on a schema in the middle of its work, and so
//! that messages are encoded and decoded while the engine evaluates.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use groma_diagnostics::io_reason;
use groma_provider::Answer;
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// A provider call as a task.
///
/// Boxed to a single type: otherwise tokio's task machinery would be monomorphized for every call.
pub(super) type CallTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The handle of the runtime, and the queue of its tasks.
struct Plugins {
    handle: Handle,
    calls: UnboundedSender<CallTask>,
}

/// Returns the runtime, and starts it on first use.
///
/// # Errors
///
/// The operating system provides no thread or no event queue.
pub(super) fn handle() -> Result<&'static Handle, &'static RuntimeError> {
    plugins().map(|plugins| &plugins.handle)
}

/// Returns the runtime for tasks that communicate with plugin processes without waking another thread, or the caller's
/// runtime if no process was started.
///
/// # Panics
///
/// Panics if the caller is outside of a runtime and no process was started.
pub fn plugin_runtime() -> Handle {
    match PLUGINS.get() {
        Some(Ok(plugins)) => plugins.handle.clone(),
        _ => Handle::current(),
    }
}

/// Queues a provider call. One wakeup of the runtime thread serves all calls queued before it runs.
///
/// # Errors
///
/// The errors of [`handle`].
pub(super) fn spawn(exchange: CallTask) -> Result<(), &'static RuntimeError> {
    // The receiver lives as long as the program.
    plugins().map(|plugins| _ = plugins.calls.send(exchange))
}

/// The reason why the thread of plugins does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RuntimeError {
    #[error("{0}")]
    NoRuntime(String),
    #[error("cannot start a thread: {0}")]
    NoThread(String),
}

static PLUGINS: OnceLock<Result<Plugins, RuntimeError>> = OnceLock::new();

fn plugins() -> Result<&'static Plugins, &'static RuntimeError> {
    PLUGINS.get_or_init(start).as_ref()
}

fn start() -> Result<Plugins, RuntimeError> {
    // A single thread: the work is I/O and decoding, and one thread avoids wakeups between workers.
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| RuntimeError::NoRuntime(io_reason(&error)))?;
    let handle = runtime.handle().clone();
    let (calls, mut queue) = unbounded_channel::<CallTask>();
    let work = move || {
        runtime.block_on(async {
            while let Some(exchange) = queue.recv().await {
                tokio::spawn(exchange);
            }
        });
    };
    std::thread::Builder::new()
        .name("plugins".to_owned())
        .spawn(work)
        .map_err(|error| RuntimeError::NoThread(io_reason(&error)))?;
    Ok(Plugins { handle, calls })
}

/// Blocks this thread until the future, which needs the runtime thread, completes.
pub(super) fn wait<T: Unpin>(future: impl Future<Output = T> + Send) -> T {
    Answer::pending(future).wait()
}
