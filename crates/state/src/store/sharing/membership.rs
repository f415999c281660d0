//! The part of this process in a shared state: its run in the document, renewed while it lives.

use std::collections::BTreeSet;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::document::{ClaimConflict, Entering, LEASE, LoggedChange, SharingDocument};
use super::errors::{claimed_by_others, lock_lost, no_longer_shared, taken_over, unreadable_document};
use super::object::{SharedObject, SharedWait, Versioned, contention_pause, waiting_pauses};
use super::record::RecordName;
use crate::error::{StateError, StateErrorKind};
use crate::store::lock::{LockInfo, LockRequest, rfc3339};

/// The interval between renewals.
const RENEWAL: Duration = Duration::from_secs(20);

/// The number of attempts to replace a document that other runs replace at the same time.
const ATTEMPTS: u32 = 400;

/// Returns a new identifier of a run or a process.
pub(super) fn new_identifier(object: &dyn SharedObject) -> String {
    format!("{:016x}", object.random())
}

/// A run of this process in the document of a shared state.
///
/// It is entered with the first claims and left with the last write. Another process may take it over after its deadline; from then
/// on every check fails, and nothing is written.
pub(super) struct Membership {
    pub object: Arc<dyn SharedObject>,
    pub run: String,
    process: String,
    request: LockRequest,
    status: Mutex<Status>,
}

#[derive(Default)]
struct Status {
    /// The time of the last claim or renewal; none before the first one.
    renewed: Option<SystemTime>,
    loss: Option<StateError>,
    on_loss: Option<LossNotice>,
}

type LossNotice = Box<dyn FnOnce(&StateError) + Send>;

impl Membership {
    /// Returns a membership in `run`, which is not entered yet.
    pub fn new(object: Arc<dyn SharedObject>, run: String, request: &LockRequest) -> Self {
        let process = new_identifier(&*object);
        Self { object, run, process, request: request.clone(), status: Mutex::default() }
    }

    fn entering(&self) -> Entering<'_> {
        Entering {
            run: &self.run,
            process: &self.process,
            who: &self.request.who,
            operation: &self.request.operation,
            now: self.object.now(),
        }
    }

    /// Claims records, and waits for runs that claim some of them.
    ///
    /// # Errors
    /// Other runs still claim them in the end, or the store fails.
    pub fn claim(&self, records: &BTreeSet<RecordName>, wait: &SharedWait<'_>) -> Result<(), StateError> {
        self.waiting(wait, || {
            let now = self.object.now();
            update(&*self.object, |document| {
                if !document.enabled {
                    return Err(no_longer_shared(&self.object.location()));
                }
                let claimed = document.claim(&self.entering(), records);
                claimed.map_err(|conflicts: Vec<ClaimConflict>| claimed_by_others(&conflicts))
            })?;
            self.status().renewed = Some(now);
            Ok(())
        })
    }

    /// Takes over the run of a process that has ended, with its claims. Returns whether this process was the first.
    ///
    /// # Errors
    /// The store fails.
    pub fn take_over(&self, ended: &str) -> Result<bool, StateError> {
        self.status().renewed = Some(self.object.now());
        update(&*self.object, |document| {
            let is_ended = document.own(&self.run, ended).is_some();
            Ok(is_ended && document.take_over(&self.entering()))
        })
    }

    /// Takes part in the ordinary lock, and waits for a program that holds it alone.
    ///
    /// # Errors
    /// The lock is still held in the end, or the store fails.
    pub fn hold_lock(&self, wait: &SharedWait<'_>) -> Result<(), StateError> {
        self.waiting(wait, || self.object.hold_lock(&self.lock_info()))
    }

    fn lock_info(&self) -> LockInfo {
        LockInfo {
            id: new_identifier(&*self.object),
            operation: self.request.operation.clone(),
            who: self.request.who.clone(),
            version: self.request.version.clone(),
            created: rfc3339(self.object.now()),
            ..LockInfo::default()
        }
    }

    /// Repeats an attempt while something is held by another run, as long as the wait allows.
    fn waiting(&self, wait: &SharedWait<'_>, attempt: impl Fn() -> Result<(), StateError>) -> Result<(), StateError> {
        let end = self.object.now() + wait.timeout;
        let mut pauses = waiting_pauses();
        loop {
            let problem = match attempt() {
                Err(problem) if problem.kind == StateErrorKind::Locked => problem,
                result => return result,
            };
            let left = end.duration_since(self.object.now()).unwrap_or_default();
            let Some(pause) = pauses.next().filter(|_| !left.is_zero() && (wait.keep_waiting)()) else {
                return Err(problem);
            };
            self.object.sleep(pause.min(left));
        }
    }

    /// Returns the document, if this process still carries its run on.
    ///
    /// # Errors
    /// Another process has taken the run over, or the store fails.
    pub fn check(&self) -> Result<SharingDocument, StateError> {
        // After a pause, another program may have taken the ordinary lock, and work on a state without the results of this run.
        self.confirm()?;
        let document = read(&*self.object)?.map(|(document, _)| document).unwrap_or_default();
        match document.own(&self.run, &self.process) {
            Some(_) => Ok(document),
            None => {
                let holder = document.runs.get(&self.run).map(|entry| &*entry.who);
                Err(self.lose(taken_over(&self.object.location(), holder)))
            }
        }
    }

    /// Checks that the run has not ended, without a request shortly after a renewal. One that may have ended is renewed first.
    ///
    /// # Errors
    /// Another process has taken the run over, or the store cannot be asked.
    pub fn confirm(&self) -> Result<(), StateError> {
        let (loss, renewed) = {
            let status = self.status();
            (status.loss.clone(), status.renewed)
        };
        if let Some(problem) = loss {
            return Err(problem);
        }
        let age = renewed.and_then(|renewed| self.object.now().duration_since(renewed).ok()).unwrap_or(LEASE);
        match self.renewal_due(age) {
            // Until its deadline the run lasts without an answer of the store.
            Err(problem) if problem.kind != StateErrorKind::Changed && age < LEASE => Ok(()),
            confirmed => confirmed,
        }
    }

    fn renewal_due(&self, age: Duration) -> Result<(), StateError> {
        // After its deadline, another program may have held the lock, changed the state, and released the lock again.
        if age > LEASE {
            return Err(self.lose(taken_over(&self.object.location(), None)));
        }
        if age < 2 * RENEWAL { Ok(()) } else { self.renew() }
    }

    /// Moves the deadline of the run and of the ordinary lock.
    ///
    /// # Errors
    /// The run is lost, or the store fails.
    pub fn renew(&self) -> Result<(), StateError> {
        let now = self.object.now();
        let renewed = update(&*self.object, |document| {
            let is_own = document.renew(&self.run, &self.process, now);
            Ok(if is_own { Ok(()) } else { Err(document.runs.get(&self.run).map(|entry| entry.who.clone())) })
        })?;
        renewed.map_err(|holder| self.lose(taken_over(&self.object.location(), holder.as_deref())))?;
        self.status().renewed = Some(now);
        // A lock that somebody has released by force is taken again. A program that has taken it since knows nothing of claims.
        self.object.hold_lock(&self.lock_info()).map_err(|problem| match problem.kind {
            StateErrorKind::Locked => self.lose(lock_lost(&self.object.location(), &problem)),
            _ => problem,
        })
    }

    /// Has `notify` called when the run is found lost, or at once if it is.
    pub fn on_loss(&self, notify: impl FnOnce(&StateError) + Send + 'static) {
        let mut status = self.status();
        match &status.loss {
            Some(problem) => notify(problem),
            None => status.on_loss = Some(Box::new(notify)),
        }
    }

    fn lose(&self, problem: StateError) -> StateError {
        let notify = {
            let mut status = self.status();
            status.loss.get_or_insert_with(|| problem.clone());
            status.on_loss.take()
        };
        if let Some(notify) = notify {
            notify(&problem);
        }
        problem
    }

    /// Leaves the run, and logs its changes.
    ///
    /// # Errors
    /// The store fails.
    pub fn leave(&self, serial: u64, records: BTreeSet<RecordName>) -> Result<(), StateError> {
        let change = LoggedChange {
            run: self.run.clone(),
            who: self.request.who.clone(),
            time: rfc3339(self.object.now()),
            serial,
            records,
        };
        update(&*self.object, |document| Ok(document.leave(&self.run, &self.process, Some(change.clone()))))?;
        self.release_lock()
    }

    /// Leaves the run to the next one, with its claims.
    ///
    /// # Errors
    /// The store fails.
    pub fn abandon(&self) -> Result<(), StateError> {
        update(&*self.object, |document| Ok(document.abandon(&self.run, &self.process)))?;
        self.release_lock()
    }

    fn release_lock(&self) -> Result<(), StateError> {
        self.object.release_lock(&|| {
            let now = self.object.now();
            let document = read(&*self.object)?.map(|(document, _)| document).unwrap_or_default();
            Ok(document.runs.values().all(|entry| entry.is_over(now)))
        })
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the document.
pub(super) fn read(object: &dyn SharedObject) -> Result<Option<(SharingDocument, Versioned)>, StateError> {
    let Some(found) = object.read_document()? else { return Ok(None) };
    let document = SharingDocument::parse(&found.bytes).ok_or_else(|| unreadable_document(&object.location()))?;
    Ok(Some((document, found)))
}

/// Replaces the document by what `change` makes of it, again and again while other runs replace it at the same time.
pub(super) fn update<T>(
    object: &dyn SharedObject,
    change: impl Fn(&mut SharingDocument) -> Result<T, StateError>,
) -> Result<T, StateError> {
    for attempt in 0.. {
        let (mut document, expected) = match read(object)? {
            Some((document, found)) => (document, Some(found)),
            None => (SharingDocument::enabled(), None),
        };
        if expected.is_none() {
            document.enabled = false;
        }
        let result = change(&mut document)?;
        let bytes = document.bytes();
        if expected.as_ref().is_some_and(|found| found.bytes == bytes) {
            return Ok(result);
        }
        match object.write_document(&Bytes::from(bytes), expected.as_ref().map(|found| &*found.version)) {
            Ok(()) => return Ok(result),
            Err(problem) if problem.kind == StateErrorKind::Changed && attempt < ATTEMPTS => {
                object.sleep(contention_pause(object, attempt));
            }
            Err(problem) => return Err(problem),
        }
    }
    Err(unreadable_document(&object.location()))
}

/// The thread that renews a membership.
pub(super) struct Renewal {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Renewal {
    /// Starts the thread; `None` if the system refuses one. The run then lasts until its first deadline.
    pub fn start(membership: &Arc<Membership>) -> Option<Self> {
        let (stop, stopped) = mpsc::channel();
        let membership = Arc::clone(membership);
        let run = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(RENEWAL) {
                // The next renewal may reach the store again; every write checks the run itself.
                if membership.renew().is_err_and(|problem| problem.kind == StateErrorKind::Changed) {
                    return;
                }
            }
        };
        let thread = Builder::new().name("shared run".to_owned()).spawn(run).ok()?;
        Some(Self { stop, thread })
    }

    /// Ends the thread.
    pub fn end(self) {
        // It has ended already if nobody receives this.
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}
