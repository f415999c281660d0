//! Interrupts: the first stops a run gracefully, the second immediately.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use groma_engine::{Cancellation, Stop};
use groma_plugin::client::PluginHost;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGXFSZ};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::streams::Streams;

/// Time for a run to stop on its own after the second interrupt.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// Listens for interrupts until the process ends.
#[derive(Clone)]
pub struct Interrupts {
    cancellation: Cancellation,
    waiting: Arc<Mutex<Vec<Sender<()>>>>,
}

impl Interrupts {
    /// Starts listening. Messages about interrupts go to `streams` and call the program `product`. After the second interrupt the
    /// provider calls of `plugins` are cancelled.
    ///
    /// # Errors
    /// The operating system refuses to start another thread.
    pub fn listen(streams: Streams, product: &'static str, plugins: Arc<PluginHost>) -> io::Result<Self> {
        let report = move |stop| {
            match stop {
            Stop::Now => streams.print("\nTwo interrupts received. Exiting immediately, after saving all known results.\n"),
            _ => streams.print(&format!(
                "\nInterrupt received.\nPlease wait for {product} to exit or data loss may occur.\nGracefully shutting down...\n\n"
            )),
        }
        };
        Self::listen_and(report, Some(plugins))
    }

    /// Starts listening, without messages about interrupts.
    ///
    /// # Errors
    /// The operating system refuses to start another thread.
    pub fn listen_silently() -> io::Result<Self> {
        Self::listen_and(|_| {}, None)
    }

    fn listen_and(report: impl Fn(Stop) + Send + 'static, plugins: Option<Arc<PluginHost>>) -> io::Result<Self> {
        // With a handler for SIGXFSZ, exceeding the file size limit is an ordinary write error instead of killing the process.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        let interrupts = Self { cancellation: Cancellation::new(), waiting: Arc::default() };
        // Without signal handlers an interrupt kills the process, and the next run recovers the results from the journal.
        if let Ok(mut signals) = Signals::new(requests_to_stop()) {
            let own = interrupts.clone();
            let listen = move || {
                for _ in signals.forever() {
                    own.interrupted(&report, plugins.as_ref());
                }
            };
            // The thread ends with the process: interrupts are possible at any time.
            Builder::new().name("interrupts".to_owned()).spawn(listen)?;
        }
        Ok(interrupts)
    }

    /// Returns the cancellation that runs observe.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Returns a channel that receives a message at each interrupt, for prompts.
    pub fn notices(&self) -> Receiver<()> {
        let (sender, receiver) = channel();
        // A prompt that starts after an interrupt ends at once.
        if self.cancellation.state() != Stop::No {
            let _ = sender.send(());
        }
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }

    fn interrupted(&self, report: &dyn Fn(Stop), plugins: Option<&Arc<PluginHost>>) {
        let stop = self.cancellation.request();
        report(stop);
        if let (Stop::Now, Some(plugins)) = (stop, plugins) {
            cancel_calls_soon(plugins);
        }
        // Receivers that were dropped are removed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).retain(|waiting| waiting.send(()).is_ok());
    }
}

/// Aborts provider calls that do not observe the cancellation, such as schema requests, after a grace period. Walks have stopped by
/// then, and have recorded their calls as in flight rather than as failed.
fn cancel_calls_soon(plugins: &Arc<PluginHost>) {
    let own = Arc::clone(plugins);
    let wait = move || {
        std::thread::sleep(GRACE_PERIOD);
        own.cancel_all();
    };
    // Without a thread there is no way to wait here: this thread handles the interrupts.
    if Builder::new().name("cancel calls".to_owned()).spawn(wait).is_err() {
        plugins.cancel_all();
    }
}

/// Returns the signals that stop a run. Closing the terminal also does, except under `nohup`.
fn requests_to_stop() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    // nohup and similar programs ignore SIGHUP so that a run outlives its terminal.
    #[cfg(unix)]
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// Whether the process was started with `signal` ignored; false if the system does not provide this information.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    // Bit 0 of the mask represents signal 1.
    ignored >> (signal - 1) & 1 == 1
}
