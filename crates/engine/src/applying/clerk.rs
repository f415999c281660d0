//! Records and reports results of side-effect-free providers on a background thread.
//!
//! Their objects are nowhere but in the state, so the walk need not wait until such a result is in the journal: only before
//! side effects happen outside, or another thread reports something, the writer has to have caught up.

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

use super::outcome::Done;
use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex};
use crate::hooks::{Hooks, Operation, Subject};
use crate::record::{self, Circumstances, Object};
use crate::recorder::Recorder;
use crate::thread_heap::make_room;

/// A successful change that is not reported yet.
pub(super) struct Entry {
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
pub(super) struct Clerk(Place);

enum Place {
    /// On the thread that walks.
    Here(Box<Desk>),
    /// On a thread of its own.
    Beside(Office),
}

/// The walk's connection to a writer on another thread.
struct Office {
    letters: SyncSender<Letter>,
    /// Handed over together: one by one it would cost more than what is saved.
    batch: Vec<Entry>,
    /// Whether something was handed over since the clerk had last caught up.
    is_behind: bool,
    thread: JoinHandle<Desk>,
}

enum Letter {
    Entries(Vec<Entry>),
    /// Asks for an answer when all before is done.
    CaughtUp(SyncSender<Diagnostics>),
}

/// Number of changes that are sent to the writer together.
const BATCH: usize = 64;

/// Number of batches that may be queued; beyond that the walk waits for the writer.
const WAITING: usize = 128;

/// Number of changes from which on a thread is worthwhile.
const MANY: usize = 1000;

impl Clerk {
    /// A clerk for about `expected` changes.
    pub(super) fn new(expected: usize, equipment: &Equipment) -> Self {
        let desk = || Desk {
            equipment: equipment.clone(),
            state: State::default(),
            done: Done::default(),
            problems: Diagnostics::new(),
            paper: String::new(),
        };
        if expected < MANY {
            return Self(Place::Here(Box::new(desk())));
        }
        let (letters, received) = mpsc::sync_channel(WAITING);
        let own = desk();
        let thread = Builder::new().name("clerk".to_owned()).spawn(move || {
            make_room(expected);
            own.work_off(&received)
        });
        match thread {
            Ok(thread) => Self(Place::Beside(Office { letters, batch: Vec::new(), is_behind: false, thread })),
            Err(_) => Self(Place::Here(Box::new(desk()))),
        }
    }

    /// Records and reports a change.
    pub(super) fn take(&mut self, entry: Entry) {
        match &mut self.0 {
            Place::Here(desk) => desk.take(entry),
            Place::Beside(office) => {
                office.batch.push(entry);
                if office.batch.len() == BATCH {
                    office.hand_over();
                }
            }
        }
    }

    /// Waits until everything that was handed in is in the journal and told; gives what could not be taken down.
    pub(super) fn catch_up(&mut self) -> Diagnostics {
        match &mut self.0 {
            Place::Here(desk) => std::mem::take(&mut desk.problems),
            Place::Beside(office) => office.catch_up(),
        }
    }

    /// Lets the clerk begin with what was handed in so far.
    pub(super) fn hand_over(&mut self) {
        if let Place::Beside(office) = &mut self.0 {
            office.hand_over();
        }
    }

    /// The objects that came into being or were changed, as they are recorded, and how many changes could be taken down.
    pub(super) fn finish(self) -> (State, Done) {
        let desk = match self.0 {
            Place::Here(desk) => *desk,
            Place::Beside(mut office) => {
                office.hand_over();
                drop(office.letters);
                office.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
        };
        (desk.state, desk.done)
    }
}

impl Office {
    fn hand_over(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        self.is_behind = true;
        // Nobody receives it only if the thread has panicked, which shows when it is joined.
        let _ = self.letters.send(Letter::Entries(batch));
    }

    fn catch_up(&mut self) -> Diagnostics {
        self.hand_over();
        if !std::mem::take(&mut self.is_behind) {
            return Diagnostics::new();
        }
        let (answer, answered) = mpsc::sync_channel(1);
        let _ = self.letters.send(Letter::CaughtUp(answer));
        answered.recv().unwrap_or_default()
    }
}

/// Destinations of the writer's results.
#[derive(Clone)]
pub(super) struct Equipment {
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) hooks: Arc<dyn Hooks>,
    pub(super) graph: Arc<ConfigGraph>,
}

/// The part of the writer that does the work, on either thread.
struct Desk {
    equipment: Equipment,
    /// The objects that were taken down.
    state: State,
    done: Done,
    problems: Diagnostics,
    /// Buffer into which objects are encoded.
    paper: String,
}

impl Desk {
    fn work_off(mut self, letters: &Receiver<Letter>) -> Self {
        for letter in letters {
            match letter {
                Letter::Entries(batch) => batch.into_iter().for_each(|entry| self.take(entry)),
                Letter::CaughtUp(answer) => {
                    // Who asked waits for it.
                    let _ = answer.send(std::mem::take(&mut self.problems));
                }
            }
        }
        self
    }

    /// Writes what came of a change to the journal, and tells it.
    fn take(&mut self, entry: Entry) {
        let Entry { operation, before: (known, _), elapsed, .. } = &entry;
        let begun = Subject::begun(*operation, &entry.address, entry.deposed.clone(), known);
        let hooks = Arc::clone(&self.equipment.hooks);
        hooks.apply_start(&begun, *operation);
        match self.record(&entry) {
            Ok(()) => {
                // What people know the object by is in the value.
                let subject = Subject { identifier: None, ..begun };
                hooks.apply_complete(&subject, *operation, &entry.object.value, *elapsed);
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
    fn record(&mut self, entry: &Entry) -> Result<(), Box<Diagnostic>> {
        let Entry { address, deposed, provider, schema, before: (_, before), object, .. } = entry;
        let (recorder, deposed, before) = (&self.equipment.recorder, deposed.as_ref(), before.as_deref());
        if object.value.is_null() {
            return Ok(recorder.finished(address, deposed, provider, before, Outcome::Gone)?);
        }
        let dependencies = entry.node.map(|(module, node)| self.equipment.graph.ancestors().of(module, node));
        let circumstances = Circumstances {
            status: ObjectStatus::Ready,
            dependencies: dependencies.unwrap_or_default(),
            create_before_destroy: entry.create_before_destroy,
            is_kept: entry.is_kept,
        };
        let record = record::encode_by(&mut self.paper, schema, object, circumstances)
            .map(Arc::new)
            .map_err(|problem| record::unrecordable(address, &problem))?;
        let outcome = Outcome::Present(Arc::clone(&record));
        let noted = recorder.finished(address, deposed, provider, before, outcome);
        self.state.insert(address, deposed, provider, record);
        Ok(noted?)
    }
}
