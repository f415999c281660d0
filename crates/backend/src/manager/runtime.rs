//! The async runtime of all stores.

use std::future::Future;
use std::io;
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

/// Never dropped, because idle connections and renewals need no orderly end.
static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

/// The runtime on which all stores of the process send their requests: one thread, started with the first store.
#[derive(Clone, Debug)]
pub(super) struct StoreRuntime(Handle);

impl StoreRuntime {
    /// Returns the runtime.
    ///
    /// # Errors
    /// The operating system refuses another thread.
    pub fn get() -> io::Result<Self> {
        let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*runtime {
            return Ok(Self(runtime.handle().clone()));
        }
        let new = Builder::new_multi_thread().worker_threads(1).thread_name("state store").enable_all().build()?;
        let handle = new.handle().clone();
        *runtime = Some(new);
        Ok(Self(handle))
    }

    /// Blocks this thread until `operation` has ended. Not for threads that drive another async runtime.
    pub fn block_on<T>(&self, operation: impl Future<Output = T>) -> T {
        self.0.block_on(operation)
    }

    /// Returns the handle, for futures of other runtimes.
    pub fn handle(&self) -> &Handle {
        &self.0
    }
}
