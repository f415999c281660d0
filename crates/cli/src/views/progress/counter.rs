//! Counts the changes of an apply.

use std::sync::atomic::{AtomicUsize, Ordering};

use groma_engine::hooks::Operation;
use groma_engine::plan::Counts;

/// Counter of completed operations, shared between threads.
#[derive(Debug, Default)]
pub struct Counter {
    imported: AtomicUsize,
    added: AtomicUsize,
    changed: AtomicUsize,
    destroyed: AtomicUsize,
    invoked: AtomicUsize,
}

impl Counter {
    /// Counts a successful operation.
    pub fn count(&self, operation: Operation) {
        let counter = match operation {
            Operation::Create => &self.added,
            Operation::Update => &self.changed,
            Operation::Delete => &self.destroyed,
            Operation::Read => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an import.
    pub fn count_import(&self) {
        self.imported.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an action invocation.
    pub fn count_invocation(&self) {
        self.invoked.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the current counts.
    pub fn counts(&self) -> Counts {
        Counts {
            import: self.imported.load(Ordering::Relaxed),
            add: self.added.load(Ordering::Relaxed),
            change: self.changed.load(Ordering::Relaxed),
            destroy: self.destroyed.load(Ordering::Relaxed),
            invoke: self.invoked.load(Ordering::Relaxed),
            ..Counts::default()
        }
    }
}
