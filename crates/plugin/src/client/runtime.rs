//! The thread on which all conversations with plugin processes go on.
//!
//! It is not the thread of the engine: so the engine can wait for a schema in the middle of its work, and messages are
//! written and read while it evaluates.

use std::future::Future;
use std::sync::OnceLock;

use groma_provider::Answer;
use tokio::runtime::{Builder, Handle};

/// The runtime, started when it is first needed.
///
/// # Errors
///
/// The operating system has no thread or no event queue left.
pub(super) fn handle() -> Result<Handle, String> {
    static RUNTIME: OnceLock<Result<Handle, String>> = OnceLock::new();
    RUNTIME.get_or_init(start).clone()
}

fn start() -> Result<Handle, String> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let handle = runtime.handle().clone();
    let work = move || runtime.block_on(std::future::pending::<()>());
    std::thread::Builder::new().name("plugins".to_owned()).spawn(work).map_err(|error| error.to_string())?;
    Ok(handle)
}

/// Waits on this thread for what happens on the other.
pub(super) fn wait<T: Unpin>(future: impl Future<Output = T> + Send) -> T {
    Answer::later(future).wait()
}
