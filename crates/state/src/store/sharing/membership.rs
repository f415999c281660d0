//! The part of this process in a shared state: its run in the document, renewed while it lives.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::document::{ClaimConflict, Entering, LoggedChange, SharingDocument};
use super::errors::{claimed_by_others, expired, lock_lost, no_longer_shared, taken_over};
use super::object::{SharedObject, SharedWait, waiting_pauses};
use super::record::RecordName;
use super::stored_document::{read, update};
use crate::error::{StateError, StateErrorKind};
use crate::store::lease::{LEASE, RENEWAL};
use crate::store::lock::{LockInfo, LockRequest, rfc3339};

/// The longest time for which a run holds the lock to find out whether the state is shared.
const PROBE: Duration = Duration::from_secs(5);

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
    pub process: String,
    request: LockRequest,
    status: Mutex<Status>,
}

/// The state of a run that no process carries on.
pub(super) enum Abandoned<'a> {
    /// The process has ended. The document has the run with its claims.
    Ended { process: &'a str },
    /// The run was left, but a journal with results for these records is on this machine. It claims them again.
    Left { records: BTreeSet<RecordName> },
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

    /// Claims records, and waits for runs that claim some of them. Returns all claims of the run.
    ///
    /// # Errors
    /// Other runs still claim them in the end, the run is lost, or the store fails.
    pub fn claim(
        &self,
        records: &BTreeSet<RecordName>,
        wait: &SharedWait<'_>,
    ) -> Result<BTreeSet<RecordName>, StateError> {
        self.waiting(wait, || {
            // Claiming renews the run, and a run whose deadline has passed must not be revived.
            self.age()?;
            let (now, is_entered) = (self.object.now(), self.status().renewed.is_some());
            let claims = update(&*self.object, |document| {
                if is_entered && document.own(&self.run, &self.process).is_none() {
                    return Err(self.lose_to(document));
                }
                self.check_enabled(document)?;
                let claimed = document.claim(&self.entering(), records);
                claimed.map_err(|conflicts: Vec<ClaimConflict>| claimed_by_others(&conflicts))?;
                Ok(document.own(&self.run, &self.process).map(|entry| entry.claims.clone()).unwrap_or_default())
            })?;
            self.status().renewed = Some(now);
            Ok(claims)
        })
    }

    fn check_enabled(&self, document: &SharingDocument) -> Result<(), StateError> {
        if document.enabled { Ok(()) } else { Err(no_longer_shared(&self.object.location())) }
    }

    /// Takes over a run that no process carries on. Returns whether this process was the first, and no other run is changing the same
    /// records.
    ///
    /// # Errors
    /// The state is no longer shared, or the store fails.
    pub fn take_over(&self, abandoned: &Abandoned<'_>) -> Result<bool, StateError> {
        let now = self.object.now();
        let is_entered = update(&*self.object, |document| {
            self.check_enabled(document)?;
            Ok(match abandoned {
                Abandoned::Ended { process } => {
                    document.own(&self.run, process).is_some() && document.take_over(&self.entering())
                }
                Abandoned::Left { records } => {
                    !document.runs.contains_key(&self.run) && document.claim(&self.entering(), records).is_ok()
                }
            })
        })?;
        self.status().renewed = Some(now).filter(|_| is_entered);
        Ok(is_entered)
    }

    /// Takes part in the ordinary lock, and waits for a program that holds it alone. The claims are renewed meanwhile.
    ///
    /// # Errors
    /// The lock is still held in the end, the run is lost, or the store fails.
    pub fn hold_lock(&self, wait: &SharedWait<'_>) -> Result<(), StateError> {
        // A run that does not know yet that the state is shared holds the lock until it has found out.
        let wait = SharedWait { timeout: wait.timeout.max(PROBE), ..*wait };
        self.waiting(&wait, || {
            self.renewed_after(RENEWAL, Self::renew_claims)?;
            self.object.hold_lock(&self.lock_info())
        })
    }

    fn lock_info(&self) -> LockInfo {
        LockInfo::new(&self.request, new_identifier(&*self.object), self.object.now())
    }

    /// Repeats an attempt while something is held by another run, as long as the wait allows.
    fn waiting<T>(&self, wait: &SharedWait<'_>, attempt: impl Fn() -> Result<T, StateError>) -> Result<T, StateError> {
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
        let document = read(&*self.object)?.unwrap_or_default();
        match document.own(&self.run, &self.process) {
            Some(_) => Ok(document),
            None => Err(self.lose_to(&document)),
        }
    }

    /// Checks that the run has not ended, without a request shortly after a renewal. One that may have ended is renewed first.
    ///
    /// # Errors
    /// Another process has taken the run over, or the store cannot be asked.
    pub fn confirm(&self) -> Result<(), StateError> {
        // Up to two intervals the renewal in the background is on time.
        self.renewed_after(2 * RENEWAL, Self::renew)
    }

    /// Renews a run whose last renewal is at least `due` ago.
    fn renewed_after(&self, due: Duration, renew: impl Fn(&Self) -> Result<(), StateError>) -> Result<(), StateError> {
        if self.age()? < due {
            return Ok(());
        }
        match renew(self) {
            // Until its deadline the run lasts without an answer of the store. The attempts take time themselves.
            Err(_) if self.age().is_ok_and(|age| age < LEASE) => Ok(()),
            renewed => renewed,
        }
    }

    /// Returns the time since the last renewal; zero before the run is entered.
    ///
    /// # Errors
    /// The run is lost: its deadline has passed, so that another program may have held the lock, changed the state, and released the
    /// lock again.
    fn age(&self) -> Result<Duration, StateError> {
        let (loss, renewed) = {
            let status = self.status();
            (status.loss.clone(), status.renewed)
        };
        if let Some(problem) = loss {
            return Err(problem);
        }
        let Some(renewed) = renewed else { return Ok(Duration::ZERO) };
        // A clock that was set back says nothing about the age, so the run is renewed.
        let age = self.object.now().duration_since(renewed).unwrap_or(LEASE);
        if age > LEASE { Err(self.lose(expired(&self.object.location()))) } else { Ok(age) }
    }

    /// Moves the deadline of the run and of the ordinary lock.
    ///
    /// # Errors
    /// The run is lost, or the store fails.
    pub fn renew(&self) -> Result<(), StateError> {
        // A run whose deadline has passed must not be revived.
        self.age()?;
        self.renew_claims()?;
        // A lock that somebody has released by force is taken again. A program that has taken it since knows nothing of claims.
        self.object.hold_lock(&self.lock_info()).map_err(|problem| match problem.kind {
            StateErrorKind::Locked => self.lose(lock_lost(&self.object.location(), &problem)),
            _ => problem,
        })
    }

    fn renew_claims(&self) -> Result<(), StateError> {
        // The time before the request: a slow answer must not make the run seem younger than its deadline.
        let now = self.object.now();
        update(&*self.object, |document| match document.renew(&self.run, &self.process, now) {
            true => Ok(()),
            false => Err(self.lose_to(document)),
        })?;
        self.status().renewed = Some(now);
        Ok(())
    }

    /// Returns the reason why the run was lost, if it was.
    pub fn loss(&self) -> Option<StateError> {
        self.status().loss.clone()
    }

    /// Has `notify` called when the run is found lost, or at once if it is.
    pub fn on_loss(&self, notify: impl FnOnce(&StateError) + Send + 'static) {
        let mut status = self.status();
        match &status.loss {
            Some(problem) => notify(problem),
            None => status.on_loss = Some(Box::new(notify)),
        }
    }

    /// Notes that the run is that of another process in the document, or in none.
    fn lose_to(&self, document: &SharingDocument) -> StateError {
        let holder = document.runs.get(&self.run).map(|entry| &*entry.who);
        self.lose(taken_over(&self.object.location(), holder))
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
            let document = read(&*self.object)?.unwrap_or_default();
            Ok(document.runs.values().all(|entry| entry.is_over(now)))
        })
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
