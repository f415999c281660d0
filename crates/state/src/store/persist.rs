//! Writes of a running apply to a remote store, at intervals, from the journal alone.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use bytes::Bytes;
use groma_encryption::Encryption;

use super::fold::{Base, fold};
use super::remote::{JournalsAfter, PersistIntervals, StateObject};
use super::sealed::sealed_bytes;
use super::stored_content::StoredContent;
use crate::content::Content;
use crate::error::{StateError, StateErrorKind};
use crate::file;
use crate::journal::{Follower, Journal, Progress};
use crate::model::State;

/// The interval at which the thread checks for new results. The first one starts the interval, as in Terraform.
const TICK: Duration = Duration::from_millis(200);

/// The run and the object that it writes.
pub(super) struct Target {
    pub object: Arc<dyn StateObject>,
    pub encryption: Option<Arc<Encryption>>,
    pub terraform_version: String,
    pub journal: Arc<Journal>,
    pub lineage: String,
    /// The stored serial.
    pub serial: u64,
    pub stored: StoredContent,
    /// The progress of the journal's copy in the store; none without one.
    pub replica: Option<Arc<Progress>>,
    pub intervals: PersistIntervals,
}

/// The result of the writes of a run.
pub(super) struct Persisted {
    /// Whether anything was written.
    pub has_written: bool,
    /// The stored serial.
    pub serial: u64,
    /// The error that ended the writes, if another run has replaced the state.
    pub conflict: Option<StateError>,
    /// The reader of the journal, for further writes; none if the journal cannot be read back.
    pub follower: Option<Follower>,
}

/// The thread that writes.
pub(super) struct Persister {
    stop: Sender<()>,
    thread: JoinHandle<Persisted>,
}

impl Persister {
    /// Starts to write what `follower` reads; none where no thread can be started.
    pub fn start(target: Target, follower: Follower) -> Option<Self> {
        let (stop, stopped) = mpsc::channel();
        let writer = Writer {
            // Records that exist already are part of the stored state or are folded in before the run.
            position: target.journal.end(),
            state: None,
            is_pending: false,
            progress: Persisted { has_written: false, serial: target.serial, conflict: None, follower: Some(follower) },
            target,
        };
        let thread = Builder::new().name("persist".to_owned()).spawn(move || writer.run(&stopped)).ok()?;
        Some(Self { stop, thread })
    }

    /// Ends the writes and returns their result; none if the thread has panicked.
    pub fn stop(self) -> Option<Persisted> {
        // It has ended already if nobody receives this.
        let _ = self.stop.send(());
        self.thread.join().ok()
    }
}

struct Writer {
    target: Target,
    /// The state with all results that were read from the journal.
    state: Option<State>,
    /// The end of the part of the journal that was read.
    position: u64,
    /// Whether the state has results that the store does not have.
    is_pending: bool,
    progress: Persisted,
}

impl Target {
    fn interval(&self) -> Duration {
        match &self.replica {
            Some(replica) if replica.refused().is_none() => self.intervals.with_journal,
            _ => self.intervals.without_journal,
        }
    }
}

impl Writer {
    fn run(mut self, stopped: &Receiver<()>) -> Persisted {
        let mut changed: Option<Instant> = None;
        // Tests and impatient settings use intervals below a tick.
        let tick = TICK.min(self.target.interval());
        while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(tick) {
            // The interval begins with the first unwritten result, so that no result waits longer than that.
            if changed.is_none() && (self.is_pending || self.target.journal.end() != self.position) {
                changed = Some(Instant::now());
            }
            if changed.is_none_or(|since| since.elapsed() < self.target.interval()) {
                continue;
            }
            changed = None;
            // After other failures, the next attempt or the end of the run may find the store again.
            if let Err(problem) = self.persist()
                && problem.kind == StateErrorKind::Changed
            {
                self.progress.conflict = Some(problem);
                break;
            }
            // A journal that was read in part cannot be read again.
            if self.progress.follower.is_none() {
                break;
            }
        }
        self.progress
    }

    fn persist(&mut self) -> Result<(), StateError> {
        let end = self.target.journal.end();
        let mut state = match self.state.take() {
            Some(state) => state,
            None => self.first_state()?,
        };
        // Errors of reading end the thread; the final write of the run still has all results.
        let events = self.progress.follower.as_mut().and_then(|follower| follower.read_to(end).ok());
        let Some(events) = events else {
            self.progress.follower = None;
            return Ok(());
        };
        self.position = end;
        self.is_pending |= !events.is_empty();
        fold(&mut state, events, Base::Same);
        let written = if self.is_pending { self.write(&mut state) } else { Ok(()) };
        // Kept also after a failed write, because the events were taken from the follower.
        self.state = Some(state);
        written
    }

    fn write(&mut self, state: &mut State) -> Result<(), StateError> {
        // Without a further serial nothing can be written; the end of the run reports it.
        let Some(serial) = self.progress.serial.checked_add(1) else { return Ok(()) };
        self.target.stored.release();
        state.serial = serial;
        let content = Bytes::from(file::write_exact(state));
        let bytes = sealed_bytes(self.target.encryption.as_deref(), &content)?;
        // A run that is killed right after the write leaves a journal that recognizes it.
        self.target.journal.checkpoint(Content::of(&bytes))?;
        self.target.journal.sync()?;
        self.target.object.write(state, &bytes, JournalsAfter::Open)?;
        self.progress.serial = serial;
        self.progress.has_written = true;
        self.target.stored.set(content);
        self.is_pending = false;
        Ok(())
    }

    /// Returns the state that the run began with.
    ///
    /// # Errors
    /// The stored content is no state, or unknown because a write before the run failed. Then only the end of the run writes.
    fn first_state(&self) -> Result<State, StateError> {
        let stored = self.target.stored.get().ok_or_else(unknown_content)?;
        let mut state = if stored.is_empty() { State::default() } else { file::read(&stored)? };
        state.lineage.clone_from(&self.target.lineage);
        state.terraform_version.clone_from(&self.target.terraform_version);
        Ok(state)
    }
}

fn unknown_content() -> StateError {
    StateError::new(
        StateErrorKind::Io,
        "Failed to write the state",
        "The stored state is unknown, because an earlier write of this run failed.",
    )
}
