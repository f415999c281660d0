//! Periodic updates of progress, and the operations in flight that they report.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use groma_engine::Hooks;
use groma_engine::hooks::Operation;

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

/// Interval of progress messages for one operation.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// Operations in flight by object name, each with the `detail` that its progress messages need.
pub(super) struct InFlight<T> {
    operations: Mutex<HashMap<String, Running<T>>>,
}

struct Running<T> {
    operation: Operation,
    detail: T,
    since: Instant,
    reported: Duration,
}

/// An operation whose progress message is due.
#[derive(Debug)]
pub(super) struct Due<T> {
    pub name: String,
    pub operation: Operation,
    pub detail: T,
    /// Elapsed time, a multiple of the interval.
    pub elapsed: Duration,
}

impl<T: Clone> InFlight<T> {
    pub fn new() -> Self {
        Self { operations: Mutex::default() }
    }

    pub fn begin(&self, name: String, operation: Operation, detail: T) {
        let running = Running { operation, detail, since: Instant::now(), reported: Duration::ZERO };
        self.lock().insert(name, running);
    }

    /// Returns the time since the operation on `name` started.
    pub fn elapsed(&self, name: &str) -> Duration {
        self.lock().get(name).map_or(Duration::ZERO, |running| running.since.elapsed())
    }

    pub fn end(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Returns the operations whose progress message is due, sorted by name, and counts them as reported.
    pub fn due(&self) -> Vec<Due<T>> {
        let mut due = Vec::new();
        for (name, running) in self.lock().iter_mut() {
            if running.since.elapsed() < running.reported + REPORT_INTERVAL {
                continue;
            }
            running.reported += REPORT_INTERVAL;
            let (operation, detail) = (running.operation, running.detail.clone());
            due.push(Due { name: name.clone(), operation, detail, elapsed: running.reported });
        }
        // The map has no order; messages of one tick are sorted by name.
        due.sort_by(|a, b| a.name.cmp(&b.name));
        due
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Running<T>>> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
