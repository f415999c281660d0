//! Threads for the code of providers.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Runs `work` on a thread of its own, where it may block: blocking code on the runtime's worker threads could delay
/// the host's request to stop.
pub(super) fn on_own_thread<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || runtime.block_on(work))
}
