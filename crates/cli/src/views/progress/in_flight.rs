//! Operations in flight, and when their next progress message is due.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use groma_engine::hooks::Operation;

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
