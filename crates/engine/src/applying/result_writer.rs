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
    /// The object before, and as it is recorded.
    pub(super) before: (Value, Option<Arc<ObjectRecord>>),
    /// The new object; its value is null if the object was deleted.
    pub(super) object: Object,
    /// The resource, if the configuration has it.
    pub(super) node: Option<(ModuleIndex, NodeIndex)>,
    pub(super) create_before_destroy: bool,
    pub(super) is_kept: bool,
    pub(super) elapsed: Duration,
}

/// Takes changes down in the order in which they are handed in.
pub(super) struct ResultWriter(Location);

enum Location {
    /// On the thread that walks.
    Inline(Box<Worker>),
    /// On a thread of its own.
    Thread(WriterThread),
}

/// How the walk reaches a result writer on another thread.
struct WriterThread {
    messages: SyncSender<Message>,
    /// Handed over together: one by one it would cost more than what is saved.
    batch: Vec<FinishedChange>,
    /// Whether something was handed over since the result writer had last caught up.
    is_behind: bool,
    thread: JoinHandle<Worker>,
}

enum Message {
    Results(Vec<FinishedChange>),
    /// Asks for an answer when all before is done.
    Flush(SyncSender<Diagnostics>),
}

/// Number of changes that are sent to the writer together.
const BATCH: usize = 64;

/// How many batches may wait: when the result writer is slower than the walk, that waits for it.
const WAITING: usize = 128;

/// Number of changes from which on a thread is worthwhile.
const MANY: usize = 1000;

impl ResultWriter {
    /// A result writer for about `expected` changes.
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

    /// Waits until everything that was handed in is in the journal and told; gives what could not be taken down.
    pub(super) fn catch_up(&mut self) -> Diagnostics {
        match &mut self.0 {
            Location::Inline(worker) => std::mem::take(&mut worker.problems),
            Location::Thread(thread) => thread.catch_up(),
        }
    }

    /// Lets the result writer begin with what was handed in so far.
    pub(super) fn hand_over(&mut self) {
        if let Location::Thread(thread) = &mut self.0 {
            thread.hand_over();
        }
    }

    /// The objects that came into being or were changed, as they are recorded, and how many changes could be taken down.
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

/// What a result writer works with.
#[derive(Clone)]
pub(super) struct WriterContext {
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) hooks: Arc<dyn Hooks>,
    pub(super) graph: Arc<ConfigGraph>,
}

/// The part of the writer that does the work, on either thread.
struct Worker {
    context: WriterContext,
    /// The objects that were taken down.
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
                    // Who asked waits for it.
                    let _ = answer.send(std::mem::take(&mut self.problems));
                }
            }
        }
        self
    }

    /// Writes what came of a change to the journal, and tells it.
    fn take(&mut self, change: FinishedChange) {
        let FinishedChange { operation, before: (known, _), elapsed, .. } = &change;
        let begun = Subject::begun(*operation, &change.address, change.deposed.clone(), known);
        let hooks = Arc::clone(&self.context.hooks);
        hooks.apply_start(&begun, *operation);
        match self.record(&change) {
            Ok(()) => {
                // What people know the object by is in the value.
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

    /// Records an entry. What the journal cannot take is in the state all the same, which may still be saved at the end.
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
