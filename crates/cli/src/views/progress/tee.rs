//! Combinators of progress: a tee to two receivers, and counters without output.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_engine::hooks::{EphemeralPhase, Operation, Subject};
use groma_engine::plan::{Counts, Invocation};
use groma_engine::{Hooks, Importing, Searched};
use groma_value::Value;

use super::ticker::Progress;

/// Forwards all events to both receivers.
pub struct Tee<T: ?Sized>(pub [Arc<T>; 2]);

impl<T: Hooks + ?Sized> Hooks for Tee<T> {
    // Every event is listed: the defaults of the trait do nothing, so an event that is missing here would be lost.
    fn import_planned(&self, address: &ResourceInstance, importing: &Importing) {
        self.0.iter().for_each(|one| one.import_planned(address, importing));
    }

    fn import_prepared(&self, address: &ResourceInstance) {
        self.0.iter().for_each(|one| one.import_prepared(address));
    }

    fn imported(&self, address: &ResourceInstance, importing: &Importing) {
        self.0.iter().for_each(|one| one.imported(address, importing));
    }

    fn refresh_start(&self, subject: &Subject) {
        self.0.iter().for_each(|one| one.refresh_start(subject));
    }

    fn refresh_complete(&self, subject: &Subject) {
        self.0.iter().for_each(|one| one.refresh_complete(subject));
    }

    fn read_start(&self, address: &ResourceInstance) {
        self.0.iter().for_each(|one| one.read_start(address));
    }

    fn read_complete(&self, address: &ResourceInstance, value: &Value) {
        self.0.iter().for_each(|one| one.read_complete(address, value));
    }

    fn list_start(&self, address: &ResourceInstance, config: Option<&Value>) {
        self.0.iter().for_each(|one| one.list_start(address, config));
    }

    fn list_complete(&self, searched: &Searched) {
        self.0.iter().for_each(|one| one.list_complete(searched));
    }

    fn provision_start(&self, address: &ResourceInstance, provisioner: &str) {
        self.0.iter().for_each(|one| one.provision_start(address, provisioner));
    }

    fn provision_output(&self, address: &ResourceInstance, provisioner: &str, line: &str) {
        self.0.iter().for_each(|one| one.provision_output(address, provisioner, line));
    }

    fn provision_complete(&self, address: &ResourceInstance, provisioner: &str) {
        self.0.iter().for_each(|one| one.provision_complete(address, provisioner));
    }

    fn provision_errored(&self, address: &ResourceInstance, provisioner: &str) {
        self.0.iter().for_each(|one| one.provision_errored(address, provisioner));
    }

    fn ephemeral_start(&self, address: &ResourceInstance, phase: EphemeralPhase) {
        self.0.iter().for_each(|one| one.ephemeral_start(address, phase));
    }

    fn ephemeral_complete(&self, address: &ResourceInstance, phase: EphemeralPhase, elapsed: Duration) {
        self.0.iter().for_each(|one| one.ephemeral_complete(address, phase, elapsed));
    }

    fn ephemeral_errored(&self, address: &ResourceInstance, phase: EphemeralPhase, elapsed: Duration) {
        self.0.iter().for_each(|one| one.ephemeral_errored(address, phase, elapsed));
    }

    fn action_start(&self, invocation: &Invocation) {
        self.0.iter().for_each(|one| one.action_start(invocation));
    }

    fn action_progress(&self, invocation: &Invocation, message: &str) {
        self.0.iter().for_each(|one| one.action_progress(invocation, message));
    }

    fn action_complete(&self, invocation: &Invocation) {
        self.0.iter().for_each(|one| one.action_complete(invocation));
    }

    fn action_errored(&self, invocation: &Invocation, problems: &Diagnostics) {
        self.0.iter().for_each(|one| one.action_errored(invocation, problems));
    }

    fn apply_start(&self, subject: &Subject, operation: Operation) {
        self.0.iter().for_each(|one| one.apply_start(subject, operation));
    }

    fn apply_complete(&self, subject: &Subject, operation: Operation, value: &Value, elapsed: Duration) {
        self.0.iter().for_each(|one| one.apply_complete(subject, operation, value, elapsed));
    }

    fn apply_errored(&self, subject: &Subject, operation: Operation, problems: &Diagnostics, elapsed: Duration) {
        self.0.iter().for_each(|one| one.apply_errored(subject, operation, problems, elapsed));
    }
}

impl<T: Progress + ?Sized> Progress for Tee<T> {
    fn tick(&self) {
        self.0.iter().for_each(|one| one.tick());
    }

    fn settle(&self) {
        self.0.iter().for_each(|one| one.settle());
    }
}

/// Counts operations without any output.
pub struct Counting {
    counter: Arc<Counter>,
}

impl Counting {
    /// Creates progress that only counts in `counter`.
    pub fn new(counter: Arc<Counter>) -> Self {
        Self { counter }
    }
}

impl Hooks for Counting {
    fn imported(&self, _address: &ResourceInstance, _importing: &Importing) {
        self.counter.count_import();
    }

    fn action_complete(&self, _invocation: &Invocation) {
        self.counter.count_invocation();
    }

    fn apply_complete(&self, _subject: &Subject, operation: Operation, _value: &Value, _elapsed: Duration) {
        self.counter.count(operation);
    }
}

impl Progress for Counting {
    // Nothing is displayed, so there is nothing to update or to finish.
    fn tick(&self) {}

    fn settle(&self) {}
}

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
            // Reading a data source changes nothing, so no summary counts it.
            Operation::Read => return,
        };
        // The counts are read only after the operations have ended, so no ordering between them is needed.
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
