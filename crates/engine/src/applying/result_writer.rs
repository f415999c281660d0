//! Records and reports results of side-effect-free providers on a background thread.
//!
//! The objects of these providers exist only in the state, so the walk need not wait until such a result is in the journal. The
//! result writer has to catch up only before an external side effect, or before something else reports progress.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_provider::Schema;
use groma_state::{DeposedKey, ObjectRecord, ObjectStatus, Outcome, State};
use groma_value::Value;

use super::ending::Done;
use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex};
use crate::hooks::{Hooks, Operation, Subject};
use crate::record::{self, Circumstances, Object};
use crate::recorder::Recorder;

/// A successful change that is not reported yet.
pub(super) struct FinishedChange {
    pub(super) operation: Operation,
    pub(super) address: ResourceInstance,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) provider: Arc<ProviderConfig>,
    pub(super) schema: Arc<Schema>,
    /// The value before the change, and its record.
    pub(super) before: (Value, Option<Arc<ObjectRecord>>),
    /// The new object; its value is null if the object was deleted.
    pub(super) object: Object,
    /// The resource, if the configuration has it.
    pub(super) node: Option<(ModuleIndex, NodeIndex)>,
    pub(super) create_before_destroy: bool,
    pub(super) is_kept: bool,
    pub(super) elapsed: Duration,
}

/// Records and reports changes in order, on the walking thread or on a thread of its own.
pub(super) struct ResultWriter(Location);

enum Location {
    /// On the walking thread.
    Inline(Box<Worker>),
    /// On a thread of its own.
    Thread(WriterThread),
}

/// The walk's side of a result writer on another thread.
struct WriterThread {
    messages: SyncSender<Message>,
    /// Changes to send together: sending them one by one would cost more than the thread saves.
    batch: Vec<FinishedChange>,
    /// Whether changes were sent since the result writer last caught up.
    is_behind: bool,
    thread: JoinHandle<Worker>,
}

enum Message {
    Results(Vec<FinishedChange>),
    /// Asks for an answer when all earlier messages are processed.
    Flush(SyncSender<Diagnostics>),
}

/// Number of changes that are sent to the writer together.
const BATCH: usize = 64;

/// Maximum number of waiting batches. A faster walk waits for the result writer.
const WAITING: usize = 128;

/// Minimum number of changes for which a thread is worthwhile.
const MANY: usize = 1000;

impl ResultWriter {
    /// Creates a result writer for about `expected` changes.
    pub(super) fn new(expected: usize, context: &WriterContext) -> Self {
        let worker = || Worker {
            context: context.clone(),
            state: State::default(),
            done: Done::default(),
            problems: Diagnostics::new(),
            buffer: String::new(),
        };
        if expected < MANY {
            return Self(Location::Inline(Box::new(worker())));
        }
        // Bounded, so that the memory of waiting results is bounded as well.
        let (messages, received) = mpsc::sync_channel(WAITING);
        let own = worker();
        let thread = Builder::new().name("results".to_owned()).spawn(move || own.run(&received));
        match thread {
            Ok(thread) => {
                Self(Location::Thread(WriterThread { messages, batch: Vec::new(), is_behind: false, thread }))
            }
            // Without another thread the results are recorded on this one, only slower.
            Err(_) => Self(Location::Inline(Box::new(worker()))),
        }
    }

    /// Records and reports a change.
    pub(super) fn take(&mut self, change: FinishedChange) {
        match &mut self.0 {
            Location::Inline(worker) => worker.take(change),
            Location::Thread(thread) => {
                thread.batch.push(change);
                if thread.batch.len() == BATCH {
                    thread.hand_over();
                }
            }
        }
    }

    /// Waits until all changes so far are recorded and reported, and returns the errors.
    pub(super) fn catch_up(&mut self) -> Diagnostics {
        match &mut self.0 {
            Location::Inline(worker) => std::mem::take(&mut worker.problems),
            Location::Thread(thread) => thread.catch_up(),
        }
    }

    /// Sends the changes so far without waiting for a full batch.
    pub(super) fn hand_over(&mut self) {
        if let Location::Thread(thread) = &mut self.0 {
            thread.hand_over();
        }
    }

    /// Ends the writer, and returns the recorded objects and the counts of successful changes.
    pub(super) fn finish(self) -> (State, Done) {
        let worker = match self.0 {
            Location::Inline(worker) => *worker,
            Location::Thread(mut thread) => {
                thread.hand_over();
                drop(thread.messages);
                // A panic of the writer is a bug of this process and must not look like a successful run.
                thread.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
        };
        (worker.state, worker.done)
    }
}

impl WriterThread {
    fn hand_over(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        self.is_behind = true;
        // Nobody receives it only if the thread has panicked, which shows when it is joined.
        let _ = self.messages.send(Message::Results(batch));
    }

    fn catch_up(&mut self) -> Diagnostics {
        self.hand_over();
        // Nothing was sent since the last answer, so a round trip to the thread would only cost time.
        if !std::mem::take(&mut self.is_behind) {
            return Diagnostics::new();
        }
        let (answer, answered) = mpsc::sync_channel(1);
        let _ = self.messages.send(Message::Flush(answer));
        answered.recv().unwrap_or_default()
    }
}

/// The interfaces that a result writer records and reports to.
#[derive(Clone)]
pub(super) struct WriterContext {
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) hooks: Arc<dyn Hooks>,
    pub(super) graph: Arc<ConfigGraph>,
}

/// The part of the writer that does the work, on either thread.
struct Worker {
    context: WriterContext,
    /// The recorded objects.
    state: State,
    done: Done,
    problems: Diagnostics,
    /// Buffer into which objects are encoded.
    buffer: String,
}

impl Worker {
    fn run(mut self, messages: &Receiver<Message>) -> Self {
        for message in messages {
            match message {
                Message::Results(batch) => batch.into_iter().for_each(|change| self.take(change)),
                Message::Flush(answer) => {
                    // The walk waits for the answer, unless it has panicked.
                    let _ = answer.send(std::mem::take(&mut self.problems));
                }
            }
        }
        self
    }

    /// Writes a change to the journal, and reports it.
    fn take(&mut self, change: FinishedChange) {
        let FinishedChange { operation, before: (known, _), elapsed, .. } = &change;
        let begun = Subject::begun(*operation, &change.address, change.deposed.clone(), known);
        let hooks = Arc::clone(&self.context.hooks);
        hooks.apply_start(&begun, *operation);
        match self.record(&change) {
            Ok(()) => {
                // The value contains the identifier that the report shows.
                let subject = Subject { identifier: None, ..begun };
                hooks.apply_complete(&subject, *operation, &change.object.value, *elapsed);
                self.done.count(*operation);
            }
            Err(problem) => {
                let problems = Diagnostics::from(*problem);
                hooks.apply_errored(&begun, *operation, &problems, *elapsed);
                self.problems.append(problems);
            }
        }
    }

    /// Records a change. If the journal cannot be written, the state contains it all the same, because a final save may succeed.
    fn record(&mut self, change: &FinishedChange) -> Result<(), Box<Diagnostic>> {
        let FinishedChange { address, deposed, provider, schema, before: (_, before), object, .. } = change;
        // A null value means that the object was deleted.
        let (recorder, deposed, before) = (&self.context.recorder, deposed.as_ref(), before.as_deref());
        if object.value.is_null() {
            return Ok(recorder.finished(address, deposed, provider, before, Outcome::Gone)?);
        }
        let dependencies = change.node.map(|(module, node)| self.context.graph.ancestors().of(module, node));
        let circumstances = Circumstances {
            status: ObjectStatus::Ready,
            dependencies: dependencies.unwrap_or_default(),
            create_before_destroy: change.create_before_destroy,
            is_kept: change.is_kept,
        };
        let record = record::encode_by(&mut self.buffer, schema, object, circumstances)
            .map(Arc::new)
            .map_err(|problem| record::unrecordable(address, &problem))?;
        let outcome = Outcome::Present(Arc::clone(&record));
        // The state keeps the object even without a record, because a final save may still succeed.
        let noted = recorder.finished(address, deposed, provider, before, outcome);
        self.state.insert(address, deposed, provider, record);
        Ok(noted?)
    }
}
