//! The thread on which requests run.
//!
//! HTTP and timers need a tokio runtime. Callers of this crate poll futures on executors of other kinds (the engine's
//! walk, synchronous key providers), so requests run on one thread that this module starts at the first request.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use groma_diagnostics::io_reason;
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;

/// The reason why nothing can run in the background.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackgroundError {
    /// The operating system refuses the runtime or its thread.
    #[error("cannot start the thread for requests: {0}")]
    Start(String),
    /// The task ended without a result.
    #[error("the thread for requests ended unexpectedly")]
    Ended,
}

/// Returns the runtime of the background thread, which is started if necessary.
fn runtime() -> Result<Handle, BackgroundError> {
    // A failed start is kept as well, so that every later request reports the same cause.
    static RUNTIME: OnceLock<Result<Handle, BackgroundError>> = OnceLock::new();
    let start = || {
        let failed = |error: &std::io::Error| BackgroundError::Start(io_reason(error).to_string());
        // One thread suffices, because the requests only wait for the network.
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))?;
        let handle = runtime.handle().clone();
        std::thread::Builder::new()
            .name("cloud requests".to_owned())
            .spawn(move || runtime.block_on(std::future::pending::<()>()))
            .map_err(|error| failed(&error))?;
        Ok(handle)
    };
    RUNTIME.get_or_init(start).clone()
}

/// Runs a future on the background thread. Dropping the returned future cancels it.
///
/// # Errors
/// Fails if the thread cannot be started, or if the future panics.
pub async fn run<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Result<T, BackgroundError> {
    Task(runtime()?.spawn(future)).await
}

/// Runs a future on the background thread and blocks this one until it has ended.
///
/// # Errors
/// Fails like [`run`].
pub fn block_on<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Result<T, BackgroundError> {
    let (sender, receiver) = std::sync::mpsc::channel();
    runtime()?.spawn(async move {
        // The receiver is dropped only together with the waiting thread.
        let _ = sender.send(future.await);
    });
    // The sender is dropped unused if the future panics.
    receiver.recv().map_err(|_| BackgroundError::Ended)
}

/// A task that is aborted when its result is no longer needed.
struct Task<T>(JoinHandle<T>);

impl<T> Future for Task<T> {
    type Output = Result<T, BackgroundError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|ended| ended.map_err(|_| BackgroundError::Ended))
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn futures_with_timers_run_without_a_runtime_of_the_caller() {
        let sleepy = || async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            7
        };
        assert_eq!(block_on(sleepy()), Ok(7));
        assert_eq!(futures_util::FutureExt::now_or_never(run(sleepy())), None);
    }
}
