//! What becomes of the results of an apply: in the journal, in the state, and in numbers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_plan::ResourceChange;
use groma_state::{Begin, DeposedKey, ObjectRecord, ObjectStatus, Outcome, State};

use super::ending::Done;
use super::result_writer::{FinishedChange, ResultWriter};
use super::unanswered_calls::NotBegun;
use crate::hooks::Operation;
use crate::record::{self, Circumstances, Object};
use crate::recorder::Recorder;

/// The state while a plan is applied, and the journal of its changes.
///
/// It owns the state, the recorder that writes the journal, the result writer for providers without side effects, and the
/// counts of completed operations. Every change of an object goes through here: its result is in the journal before it is in the
/// state, so a killed run loses nothing. Results of side-effect-free providers are handed to the result writer instead,
/// which may be behind; [`Recording::catch_up`] waits for it, before anything happens that could not be undone.
///
/// It also keeps what a change leaves for its later steps: the key under which a replaced object was deposed, and whether
/// the new object is to be kept when its resource goes. It calls no provider, evaluates nothing and reports no progress.
pub(super) struct Recording {
    state: State,
    recorder: Arc<dyn Recorder>,
    writer: ResultWriter,
    /// The objects deposed by replacements that create first, by change.
    deposed: HashMap<u32, DeposedKey>,
    /// The changes whose objects have `destroy = false`.
    kept: HashSet<u32>,
    done: Done,
    /// Operations that were not started because their provider process had ended.
    not_begun: NotBegun,
}

impl Recording {
    pub(super) fn new(state: State, recorder: Arc<dyn Recorder>, writer: ResultWriter) -> Self {
        Self {
            state,
            recorder,
            writer,
            deposed: HashMap::new(),
            kept: HashSet::new(),
            done: Done::default(),
            not_begun: NotBegun::default(),
        }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    pub(super) fn recorder(&self) -> &Arc<dyn Recorder> {
        &self.recorder
    }

    /// Returns the recorded object of an instance.
    pub(super) fn object(
        &self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
    ) -> Option<&Arc<ObjectRecord>> {
        self.state.object(address, deposed)
    }

    /// Writes an object that was imported while planning to the journal. Returns whether the prior state has it.
    pub(super) fn record_import(&mut self, planned: &ResourceChange) -> Result<bool, Diagnostic> {
        let Some(record) = self.state.object(&planned.address, None) else { return Ok(false) };
        let outcome = Outcome::Present(Arc::clone(record));
        self.recorder.finished(&planned.address, None, &planned.provider, None, outcome)?;
        self.done.imported += 1;
        Ok(true)
    }

    /// Records again the start of a call without an answer.
    pub(super) fn begin(&self, begin: &Begin) -> Result<(), Diagnostic> {
        self.recorder.begin(begin)
    }

    /// Makes the current object of a change a deposed one (PL-10), in the state and in the journal.
    ///
    /// # Errors
    ///
    /// The journal cannot be written. The object then stays current.
    pub(super) fn depose(&mut self, change: u32, planned: &ResourceChange) -> Result<(), Diagnostic> {
        let ResourceChange { address, provider, .. } = planned;
        let Some(record) = self.state.object(address, None).cloned() else { return Ok(()) };
        let Some(key) = self.state.depose(address) else { return Ok(()) };
        // The deposed object is recorded before the current one disappears: a kill in between leaves it twice, never
        // not at all.
        let noted = self
            .recorder
            .finished(address, Some(&key), provider, None, Outcome::Present(Arc::clone(&record)))
            .and_then(|()| self.recorder.finished(address, None, provider, Some(&record), Outcome::Gone));
        // Without both records the object must stay the current one, or a killed run would lose it.
        if noted.is_err() {
            self.state.restore(address, &key);
        }
        self.deposed.insert(change, key);
        noted
    }

    /// Returns the deposed key of the object that a change has deposed.
    pub(super) fn deposed_by(&self, change: u32) -> Option<&DeposedKey> {
        self.deposed.get(&change)
    }

    /// Makes the object that a change has deposed the current one again (PL-10).
    pub(super) fn restore(&mut self, change: u32, planned: &ResourceChange) -> Result<(), Diagnostic> {
        let Some(key) = self.deposed.remove(&change) else { return Ok(()) };
        let ResourceChange { address, provider, .. } = planned;
        // Copied, because restoring moves the record within the state.
        let record = self.state.object(address, Some(&key)).cloned();
        if let Some(record) = record
            && self.state.restore(address, &key)
        {
            // In the reverse order of deposing: the current object is recorded before the deposed one disappears.
            self.recorder.finished(address, None, provider, None, Outcome::Present(Arc::clone(&record)))?;
            self.recorder.finished(address, Some(&key), provider, Some(&record), Outcome::Gone)?;
        }
        Ok(())
    }

    /// Records that the new object of a change is to be forgotten instead of destroyed (`destroy = false`).
    pub(super) fn keep(&mut self, change: u32) {
        self.kept.insert(change);
    }

    pub(super) fn is_kept(&self, change: u32) -> bool {
        self.kept.contains(&change)
    }

    /// Records an object; `before` is what was recorded for it.
    ///
    /// # Errors
    ///
    /// The journal cannot be written, or the object cannot be encoded. In the first case the state contains the object all the same.
    pub(super) fn record(
        &mut self,
        planned: &ResourceChange,
        deposed: Option<&DeposedKey>,
        before: Option<&ObjectRecord>,
        object: &Object,
        circumstances: Circumstances,
    ) -> Result<(), Diagnostic> {
        let ResourceChange { address, provider, schema, .. } = planned;
        let record = record::encode(schema, object, circumstances)
            .map_err(|problem| record::unrecordable(address, &problem))
            .map(Arc::new)?;
        let outcome = Outcome::Present(Arc::clone(&record));
        // The state is updated even if the journal fails, so that the final save still contains the object.
        let noted = self.recorder.finished(address, deposed, provider, before, outcome);
        self.state.insert(address, deposed, provider, record);
        noted
    }

    /// Records that an object is gone.
    ///
    /// # Errors
    ///
    /// The journal cannot be written. The object is removed from the state all the same.
    pub(super) fn remove(
        &mut self,
        planned: &ResourceChange,
        deposed: Option<&DeposedKey>,
        before: Option<&ObjectRecord>,
    ) -> Result<(), Diagnostic> {
        // The real object no longer exists, whether the journal can be written or not.
        self.state.remove(&planned.address, deposed);
        self.recorder.finished(&planned.address, deposed, &planned.provider, before, Outcome::Gone)
    }

    /// Records that an object is no longer managed.
    pub(super) fn forget(&mut self, planned: &ResourceChange) -> Result<(), Diagnostic> {
        let ResourceChange { address, deposed, provider, .. } = planned;
        let before = self.state.remove(address, deposed.as_ref());
        self.recorder.finished(address, deposed.as_ref(), provider, before.as_deref(), Outcome::Gone)
    }

    /// Records that an object is complete, which was tainted until its provisioners had ended.
    pub(super) fn make_ready(&mut self, planned: &ResourceChange) -> Result<(), Diagnostic> {
        let ResourceChange { address, provider, .. } = planned;
        let Some(tainted) = self.state.object(address, None).cloned() else { return Ok(()) };
        let ready = Arc::new(ObjectRecord { status: ObjectStatus::Ready, ..(*tainted).clone() });
        let outcome = Outcome::Present(Arc::clone(&ready));
        let noted = self.recorder.finished(address, None, provider, Some(&tainted), outcome);
        self.state.insert(address, None, provider, ready);
        noted
    }

    /// Passes a result to the result writer, which records and reports it.
    pub(super) fn hand_in(&mut self, entry: FinishedChange) {
        // A creation enters the state when the writer is done with it; a deletion can leave it at once.
        if entry.object.value.is_null() {
            self.state.remove(&entry.address, entry.deposed.as_ref());
        }
        self.writer.take(entry);
    }

    /// Sends the results so far to the result writer without waiting for a full batch.
    pub(super) fn hand_over(&mut self) {
        self.writer.hand_over();
    }

    /// Waits until the result writer has recorded and reported everything, and returns its errors.
    pub(super) fn catch_up(&mut self) -> Diagnostics {
        self.writer.catch_up()
    }

    /// Counts a successful operation.
    pub(super) fn count(&mut self, operation: Operation) {
        self.done.count(operation);
    }

    /// Counts an action that was invoked.
    pub(super) fn count_invoked(&mut self) {
        self.done.invoked += 1;
    }

    /// Records an operation that was not started because its provider process had ended, with the resulting errors.
    pub(super) fn note_not_begun(&mut self, planned: &ResourceChange, operation: Operation, problems: Diagnostics) {
        self.not_begun.note(&planned.provider.provider, &planned.address, operation, problems);
    }

    /// Reports the operations that were not begun.
    pub(super) fn report_not_begun(&mut self) -> Diagnostics {
        std::mem::take(&mut self.not_begun).report()
    }

    /// Returns the state with all recorded results, and the counts of completed operations.
    pub(super) fn finish(self) -> (State, Done) {
        let (made, done) = self.writer.finish();
        let mut state = self.state;
        // The writer's thread builds a state of its own, so that the walk and the writer never share one.
        state.absorb(made);
        (state, self.done.and(done))
    }
}
