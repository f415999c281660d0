//! Where the code of providers runs.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Has `work` done on a thread of its own, which it may block for as long as it likes: on one of the threads that the runtime goes on with it
/// could keep the runtime from hearing the host, which asks it to stop.
pub(super) fn on_own_thread<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || runtime.block_on(work))
}
