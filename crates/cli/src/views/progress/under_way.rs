//! Operations in progress: their start, and their last report.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use groma_engine::hooks::Operation;

/// The interval of "Still creating..." reports.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// Operations under way by the names of their objects, each with what a sign of life needs besides.
pub(super) struct UnderWay<T> {
    operations: Mutex<HashMap<String, Running<T>>>,
}

struct Running<T> {
    operation: Operation,
    detail: T,
    since: Instant,
    told: Duration,
}

/// An operation of which it is time to give a sign of life.
#[derive(Debug)]
pub(super) struct Due<T> {
    pub name: String,
    pub operation: Operation,
    pub detail: T,
    /// A multiple of the time between two signs.
    pub elapsed: Duration,
}

impl<T: Clone> UnderWay<T> {
    pub fn new() -> Self {
        Self { operations: Mutex::default() }
    }

    pub fn begin(&self, name: String, operation: Operation, detail: T) {
        let running = Running { operation, detail, since: Instant::now(), told: Duration::ZERO };
        self.lock().insert(name, running);
    }

    /// Returns the time since the operation `name` started.
    pub fn elapsed(&self, name: &str) -> Duration {
        self.lock().get(name).map_or(Duration::ZERO, |running| running.since.elapsed())
    }

    pub fn end(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Returns the operations whose last report is too old, by name, and marks them as reported.
    pub fn due(&self) -> Vec<Due<T>> {
        let mut due = Vec::new();
        for (name, running) in self.lock().iter_mut() {
            if running.since.elapsed() < running.told + SIGN_OF_LIFE {
                continue;
            }
            running.told += SIGN_OF_LIFE;
            let (operation, detail) = (running.operation, running.detail.clone());
            due.push(Due { name: name.clone(), operation, detail, elapsed: running.told });
        }
        due.sort_by(|a, b| a.name.cmp(&b.name));
        due
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Running<T>>> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
