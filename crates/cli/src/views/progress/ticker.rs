//! Periodic updates of progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use groma_engine::Hooks;

/// Progress with periodic updates.
pub trait Progress: Hooks {
    /// Updates the progress; called at regular intervals.
    fn tick(&self);

    /// Finishes the output after the last operation.
    fn settle(&self);
}

/// Time between two updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// Updates progress on a thread until dropped, and then finishes it.
pub struct Ticker {
    progress: Arc<dyn Progress>,
    done: Arc<AtomicBool>,
    /// `None` if the operating system refuses another thread: progress is then only shown at the end.
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts the updates.
    pub fn start(progress: Arc<dyn Progress>) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let thread = {
            let (progress, done) = (Arc::clone(&progress), Arc::clone(&done));
            let tick = move || {
                while !done.load(Ordering::Acquire) {
                    std::thread::park_timeout(INTERVAL);
                    progress.tick();
                }
            };
            std::thread::Builder::new().name("progress".to_owned()).spawn(tick)
        };
        Self { progress, done, thread: thread.ok() }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // Wakes the thread, so that dropping does not wait for the next interval.
            thread.thread().unpark();
            let _ = thread.join();
        }
        self.progress.settle();
    }
}
