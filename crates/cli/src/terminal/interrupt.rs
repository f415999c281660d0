//! Interrupts: the first asks a run to stop in good order, the second to stop at once.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use groma_engine::{Cancellation, Stop};
use groma_plugin::client::cancel_all;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGXFSZ};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::streams::Streams;

/// The time that a run has to stop after the second interrupt.
const PATIENCE: Duration = Duration::from_secs(1);

/// Listens for interrupts as long as the process lives.
#[derive(Clone)]
pub struct Interrupts {
    cancellation: Cancellation,
    waiting: Arc<Mutex<Vec<Sender<()>>>>,
}

impl Interrupts {
    /// Starts to handle signals; messages for the user go to `streams`, in the name of `product`.
    ///
    /// # Errors
    /// The operating system does not allow another thread.
    pub fn listen(streams: Streams, product: String) -> io::Result<Self> {
        Self::listen_and(move |stop| {
            match stop {
            Stop::Now => streams.print("\nTwo interrupts received. Stopping now; what is known is saved.\n"),
            _ => streams.print(&format!(
                "\nInterrupt received.\nPlease wait for {product} to exit or data loss may occur.\nGracefully shutting down...\n\n"
            )),
        }
        })
    }

    /// Starts to handle signals without messages.
    ///
    /// # Errors
    /// The operating system does not allow another thread.
    pub fn listen_silently() -> io::Result<Self> {
        Self::listen_and(|_| {})
    }

    fn listen_and(tell: impl Fn(Stop) + Send + 'static) -> io::Result<Self> {
        // A file that may not grow any more ends the process unless somebody listens; then writing it is an error as
        // any other.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        let interrupts = Self { cancellation: Cancellation::new(), waiting: Arc::default() };
        // Without signal handling an interrupt ends the process, and the journal keeps the results.
        if let Ok(mut signals) = Signals::new(requests_to_stop()) {
            let own = interrupts.clone();
            let listen = move || {
                for _ in signals.forever() {
                    own.interrupted(&tell);
                }
            };
            Builder::new().name("interrupts".to_owned()).spawn(listen)?;
        }
        Ok(interrupts)
    }

    /// Returns the cancellation token for runs.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// A message arrives here at each interrupt: for prompts.
    pub fn notices(&self) -> Receiver<()> {
        let (sender, receiver) = channel();
        if self.cancellation.state() != Stop::No {
            let _ = sender.send(());
        }
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }

    fn interrupted(&self, tell: &dyn Fn(Stop)) {
        let stop = self.cancellation.request();
        tell(stop);
        if stop == Stop::Now {
            give_up_soon();
        }
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).retain(|waiting| waiting.send(()).is_ok());
    }
}

/// Ends waits for providers that do not observe cancellation themselves, such as schema requests. A walk that observes
/// cancellation has stopped by then, with its calls recorded as in flight rather than as failed.
fn give_up_soon() {
    let wait = || {
        std::thread::sleep(PATIENCE);
        cancel_all();
    };
    if Builder::new().name("give up".to_owned()).spawn(wait).is_err() {
        cancel_all();
    }
}

/// The signals that ask to stop. A terminal that is closed asks, too, unless the user has the program outlive it
/// (`nohup`).
fn requests_to_stop() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    #[cfg(unix)]
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// Whether the process was started with `signal` ignored, as far as the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    // The first signal has the number one.
    ignored >> (signal - 1) & 1 == 1
}
