//! The thread on which all conversations with plugin processes go on.
//!
//! It is not the thread of the engine: so the engine can wait for a schema in the middle of its work, and messages are
//! written and read while it evaluates.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use groma_diagnostics::io_reason;
use groma_provider::Answer;
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// A conversation, with all that comes of it.
///
/// One type for all of them: what a task is made of would be generated for each.
pub(super) type Talk = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The runtime, and the way to it.
struct Plugins {
    handle: Handle,
    talks: UnboundedSender<Talk>,
}

/// The runtime, started when it is first needed.
///
/// # Errors
///
/// The operating system has no thread or no event queue left.
pub(super) fn handle() -> Result<&'static Handle, &'static str> {
    plugins().map(|plugins| &plugins.handle)
}

/// Where conversations are best held: what is spawned there talks to processes without waking another thread. The caller's own
/// runtime while there are none.
///
/// # Panics
///
/// The caller is in no runtime.
pub fn beside_processes() -> Handle {
    match PLUGINS.get() {
        Some(Ok(plugins)) => plugins.handle.clone(),
        _ => Handle::current(),
    }
}

/// Has a conversation held. The thread is woken once for all that are handed over before it looks.
///
/// # Errors
///
/// As those of [`handle`].
pub(super) fn hold(talk: Talk) -> Result<(), &'static str> {
    // The receiver ends with the program.
    plugins().map(|plugins| _ = plugins.talks.send(talk))
}

static PLUGINS: OnceLock<Result<Plugins, String>> = OnceLock::new();

fn plugins() -> Result<&'static Plugins, &'static str> {
    PLUGINS.get_or_init(start).as_ref().map_err(String::as_str)
}

fn start() -> Result<Plugins, String> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| io_reason(&error))?;
    let handle = runtime.handle().clone();
    let (talks, mut handed_over) = unbounded_channel::<Talk>();
    let work = move || {
        runtime.block_on(async {
            while let Some(talk) = handed_over.recv().await {
                tokio::spawn(talk);
            }
        });
    };
    std::thread::Builder::new()
        .name("plugins".to_owned())
        .spawn(work)
        .map_err(|error| format!("no thread can be started: {}", io_reason(&error)))?;
    Ok(Plugins { handle, talks })
}

/// Waits on this thread for what happens on the other.
pub(super) fn wait<T: Unpin>(future: impl Future<Output = T> + Send) -> T {
    Answer::later(future).wait()
}
