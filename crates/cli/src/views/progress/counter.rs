//! Numbers of objects that an apply has changed.

use std::sync::atomic::{AtomicUsize, Ordering};

use groma_engine::hooks::Operation;
use groma_engine::plan::Counts;

/// Counter of finished operations.
#[derive(Debug, Default)]
pub struct Counter {
    imported: AtomicUsize,
    added: AtomicUsize,
    changed: AtomicUsize,
    destroyed: AtomicUsize,
    invoked: AtomicUsize,
}

impl Counter {
    /// One more has ended well.
    pub fn count(&self, operation: Operation) {
        let counter = match operation {
            Operation::Create => &self.added,
            Operation::Update => &self.changed,
            Operation::Delete => &self.destroyed,
            Operation::Read => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// One more object was taken over.
    pub fn count_import(&self) {
        self.imported.fetch_add(1, Ordering::Relaxed);
    }

    /// One more action was invoked.
    pub fn count_invocation(&self) {
        self.invoked.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts so far.
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
