//! Checkpoints: while a run goes on, the state file gets what the journal already has.
//!
//! Another tool that reads the state file after a killed run then finds the objects of that run. Checkpoints are written on a
//! thread of their own, from the journal alone: the walk neither waits for them nor shares its state with them.

use std::fs::File;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::backup::back_up;
use super::disk::changed_meanwhile;
use super::fold::{Base, fold};
use super::open::make_private;
use super::paths::{Backup, StatePaths};
use super::sealed::{clear, sealed};
use crate::content::{Content, put_content};
use crate::error::{StateError, StateErrorKind};
use crate::file::{self, write_parts};
use crate::journal::{Follower, Journal};
use crate::model::State;
use crate::storage::Storage;

/// The longest time that a result is in the journal alone, unless writing takes long.
pub(super) const LAG: Duration = Duration::from_secs(1);

/// Checkpoints take at most one part in so many of the run's time.
const SHARE: u32 = 20;

/// The time that a checkpoint waits for the end of the run before it is synced to the disk. Short runs never sync one.
const SETTLE: Duration = Duration::from_millis(200);

/// From how many bytes on the speed of a checkpoint says something.
const MUCH: u64 = 1 << 20;

/// The assumed speed of the first checkpoint, in bytes per second.
const ASSUMED_SPEED: f64 = 40e6;

/// The files and the run that checkpoints belong to.
pub(super) struct Target {
    pub paths: StatePaths,
    pub file: Arc<File>,
    pub journal: Arc<Journal>,
    pub terraform_version: String,
    pub lineage: String,
    /// The serial of the state that the run found.
    pub serial: u64,
    /// The content of the file when it was last read or written.
    pub content: Content,
    /// Whether that is a state, as it would be sealed now.
    pub is_state: bool,
    pub is_current: bool,
    pub start: Start,
    pub backup_made: bool,
    /// The longest time that a result is in the journal alone.
    pub lag: Duration,
}

/// The state at the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// No state existed before.
    Nothing,
    /// The one in the file that is read.
    File,
}

/// The result of the checkpoints of a run.
#[derive(Debug)]
pub(super) struct Progress {
    /// The content of the last checkpoint; none if there was no checkpoint.
    pub content: Option<Content>,
    /// The backup of the state before the run.
    pub backup: Backup,
    pub backup_made: bool,
}

/// The content of the last checkpoint; none before the first one. Locked while a checkpoint is written.
pub(super) type Latest = Arc<Mutex<Option<Content>>>;

/// The thread that writes checkpoints.
pub(super) struct Checkpoints {
    latest: Latest,
    signals: Sender<Signal>,
    thread: JoinHandle<Progress>,
}

enum Signal {
    /// The first result of a run that found no state is in the journal.
    FirstResult,
    /// The run ends: no further checkpoint is written.
    Stop,
}

impl Checkpoints {
    /// Begins to write checkpoints of the run that `follower` follows; none where no thread can be started.
    pub fn start(target: Target, follower: Follower) -> Option<Self> {
        let (signals, received) = mpsc::channel();
        if target.start == Start::Nothing {
            let first = signals.clone();
            // Nobody receives it only after the run.
            target.journal.on_next_result(move || drop(first.send(Signal::FirstResult)));
        }
        let writer = Writer::new(target, follower);
        let latest = Arc::clone(&writer.latest);
        // The run does not need this thread: without it, the journal alone keeps the results.
        let thread = Builder::new().name("checkpoint".to_owned()).spawn(move || writer.run(&received)).ok()?;
        Some(Self { latest, signals, thread })
    }

    /// The content of the last checkpoint. While it is locked, no other checkpoint is written.
    pub fn latest(&self) -> Latest {
        Arc::clone(&self.latest)
    }

    /// Ends them, and returns what they have done; none if the thread has panicked.
    pub fn stop(self) -> Option<Progress> {
        // It has ended already if nobody receives this.
        let _ = self.signals.send(Signal::Stop);
        self.thread.join().ok()
    }
}

struct Writer {
    target: Target,
    latest: Latest,
    follower: Follower,
    /// The state with all results that were read from the journal.
    state: Option<State>,
    /// Up to where the journal was read.
    position: u64,
    /// Whether the state has results that the file does not have.
    is_pending: bool,
    is_base_noted: bool,
    /// Whether a checkpoint was written.
    has_written: bool,
    /// The speed of the last checkpoint, in bytes per second.
    speed: f64,
    last: Instant,
}

impl Writer {
    fn new(target: Target, follower: Follower) -> Self {
        let position = target.journal.end();
        // Without a state before the run there is no content to preserve.
        let is_base_noted = target.start == Start::Nothing;
        let last = Instant::now();
        Self {
            target,
            latest: Latest::default(),
            follower,
            state: None,
            position,
            is_pending: false,
            is_base_noted,
            has_written: false,
            speed: ASSUMED_SPEED,
            last,
        }
    }

    fn run(mut self, signals: &Receiver<Signal>) -> Progress {
        let mut wait = self.target.lag;
        loop {
            let is_first = match signals.recv_timeout(wait) {
                Ok(Signal::FirstResult) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => break,
            };
            // The longer wait after a failure applies once.
            wait = self.target.lag;
            // The first result is written at once, because until then the file has no state at all.
            if !is_first && !self.is_due() {
                continue;
            }
            match self.checkpoint() {
                Ok(Written::No) => {}
                Ok(Written::Yes) => match signals.recv_timeout(SETTLE) {
                    // The first result may have been seen before its signal.
                    Err(RecvTimeoutError::Timeout) | Ok(Signal::FirstResult) => self.settle(),
                    Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                },
                Ok(Written::Never) => break,
                // The end of the run reports the problem; nothing more is written.
                Err(problem) if problem.kind == StateErrorKind::Changed => break,
                // The disk may have room again, and the journal has everything.
                Err(_) => wait = self.target.lag * SHARE,
            }
        }
        Progress {
            content: self.has_written.then_some(self.target.content),
            backup: self.target.paths.backup,
            backup_made: self.target.backup_made,
        }
    }

    /// Whether a checkpoint now would not take more than its share of the time since the last one.
    fn is_due(&self) -> bool {
        let bytes = self.target.content.length + self.target.journal.end().saturating_sub(self.position);
        let expected = Duration::from_secs_f64(bytes as f64 / self.speed);
        self.last.elapsed() >= (expected * SHARE).max(self.target.lag)
    }

    /// Writes what the journal has into the state file, if that is anything new.
    fn checkpoint(&mut self) -> Result<Written, StateError> {
        let begin = Instant::now();
        // Fixed before reading: records appended from here on belong to the next checkpoint.
        let end = self.target.journal.end();
        if end == self.position && !self.is_pending {
            return Ok(Written::No);
        }
        let mut state = match self.state.take() {
            Some(state) => state,
            None => self.first_state()?,
        };
        // A journal that was read in part cannot be read again.
        let Ok(events) = self.follower.read_to(end) else { return Ok(Written::Never) };
        self.position = end;
        self.is_pending |= !events.is_empty();
        fold(&mut state, events, Base::Same);
        let written = if self.is_pending { self.write(&state).map(|()| Written::Yes) } else { Ok(Written::No) };
        self.state = Some(state);
        let Written::Yes = written? else { return Ok(Written::No) };
        self.is_pending = false;
        let took = begin.elapsed().as_secs_f64();
        // For small files, fixed costs dominate and say nothing about the speed of the disk.
        if self.target.content.length > MUCH && took > 0.0 {
            self.speed = self.target.content.length as f64 / took;
        }
        self.last = Instant::now();
        Ok(Written::Yes)
    }

    /// The state that the run began with.
    fn first_state(&self) -> Result<State, StateError> {
        let mut state = match self.target.start {
            Start::Nothing => State::default(),
            Start::File => {
                let path = &self.target.paths.read;
                let bytes = std::fs::read(path).map_err(|error| StateError::io("read", path, &error))?;
                let content = clear(&self.target.paths, path, &bytes)?.bytes;
                if file::is_blank(&content) { State::default() } else { file::read(&content)? }
            }
        };
        // A blank file has no lineage; every checkpoint carries that of the run.
        state.lineage.clone_from(&self.target.lineage);
        state.terraform_version.clone_from(&self.target.terraform_version);
        Ok(state)
    }

    fn write(&mut self, state: &State) -> Result<(), StateError> {
        let latest = Arc::clone(&self.latest);
        let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.write_file(state);
        if self.has_written {
            *latest = Some(self.target.content);
        }
        written
    }

    fn write_file(&mut self, state: &State) -> Result<(), StateError> {
        let target = &mut self.target;
        let path = target.paths.write.clone();
        let failed = |action: &str, error: &std::io::Error| StateError::io(action, &path, error);
        let found = Content::of_file(&*target.file).map_err(|error| failed("read", &error))?;
        // Another program changed the file despite the lock, and its changes must not be overwritten.
        if found != target.content {
            return Err(changed_meanwhile(&path));
        }
        // The backup holds the state from before the run, so it precedes the first write.
        if !target.backup_made && target.is_state {
            back_up(&mut target.paths, target.is_current, &*target.file)?;
            target.backup_made = true;
        }
        if !self.is_base_noted {
            // The journal gets the old content first, because the checkpoint overwrites it in the file.
            let bytes = target.file.read_all().map_err(|error| failed("read", &error))?;
            if !file::is_blank(&bytes) {
                target.journal.base(&clear(&target.paths, &path, &bytes)?.bytes)?;
            }
            self.is_base_noted = true;
        }
        let parts = write_parts(state);
        // All checkpoints of a run share one serial, since together they are one change of the state.
        let whole = [parts.head(target.serial + 1), parts.rest].concat();
        let whole = sealed(target.paths.encryption.as_deref(), whole)?;
        let content = Content::of(&whole);
        // Noted before the write: recovery then recognizes a file that has this content.
        target.journal.checkpoint(content)?;
        make_private(&target.file);
        // It has what it had, or what it should have: either way it is ours.
        self.has_written = true;
        let written = put_content(&*target.file, &[&whole]);
        target.content = match written {
            Ok(()) => content,
            // A failed write may have changed a part of the file, so its actual content is read.
            Err(_) => Content::of_file(&*target.file).map_err(|error| failed("read", &error))?,
        };
        written.map_err(|error| failed("write", &error))
    }

    /// Brings the last checkpoint to the disk, and notes that it is there.
    fn settle(&self) {
        if self.target.file.sync().is_ok() {
            // Without that note the next run only takes up what it need not.
            let _ = self.target.journal.written();
        }
    }
}

enum Written {
    Yes,
    /// There was nothing new.
    No,
    /// The journal cannot be read back.
    Never,
}
