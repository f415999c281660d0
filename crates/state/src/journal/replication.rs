//! Replication: the journal of a run is copied to the store of its state while the run goes on.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::merged::MergedJournals;
use super::segments::{SegmentCreated, SegmentId, SegmentStore};
use super::sent::SentNote;
use crate::error::{StateError, StateErrorKind};
use crate::storage::Storage;

/// The number of requests that may follow each other at once after a quiet time.
const BURST: u32 = 5;

/// The interval between requests, and the longest time that a record waits for its request. All requests of a run together
/// are at most one a second and seven more, so the renewals of the lock and the writes of the state need a part of each
/// second. Two of the seven are the read of the sharing document and, over S3, the deletion of the first segment.
const INTERVAL: Duration = Duration::from_millis(1200);

/// The additional pause after the first request: the requests that open and close a run are more than the others allow.
const OPENING: Duration = Duration::from_millis(1800);

/// The pause after a request that failed.
const RETRY: Duration = Duration::from_secs(5);

/// The progress of the replication, shared by the journal, its sender and those who wait.
///
/// A call that creates an object waits until the store has its begin record ([`Durable`]). If the store cannot be
/// reached, or refuses journals, nobody waits: the journal file on this machine has every record. If another run has
/// closed the journal, this run has lost its lock, and no further call may begin.
#[derive(Default)]
pub(crate) struct Progress {
    state: Mutex<Inner>,
    wake: Condvar,
}

#[derive(Default)]
struct Inner {
    /// The end of the journal file.
    end: u64,
    /// The part of the file that the store has.
    sent: u64,
    /// The position up to which somebody waits.
    wanted: u64,
    /// The number of records that the store does not have.
    records: u64,
    /// The time of the oldest of them.
    oldest: Option<Instant>,
    status: Status,
    waiting: Vec<Waker>,
    is_stopped: bool,
}

/// Whether the store takes the journal.
#[derive(Clone, Debug, Default)]
enum Status {
    #[default]
    Working,
    /// The last request failed, and will be repeated.
    Failing,
    /// The store refuses journals of this run's identity.
    Refused(StateError),
    /// The run must not begin further calls.
    Stopped(StateError),
}

impl Progress {
    /// Notes that a record ends at `end` of the journal file.
    pub fn appended(&self, end: u64) {
        let mut inner = self.lock();
        inner.end = end;
        inner.records += 1;
        inner.oldest.get_or_insert_with(Instant::now);
        // The sender sleeps until the interval is over, so it is woken only for a new interval.
        if inner.records == 1 {
            self.wake.notify_all();
        }
    }

    /// Returns the reason why no further call may begin, if there is one.
    pub fn stopped(&self) -> Option<StateError> {
        match &self.lock().status {
            Status::Stopped(problem) => Some(problem.clone()),
            _ => None,
        }
    }

    /// Makes every further call of the run fail with `problem`.
    pub fn stop(&self, problem: StateError) {
        self.set(Status::Stopped(problem));
    }

    /// Returns the reason why the store has no journal of this run, if it refuses one.
    pub fn refused(&self) -> Option<StateError> {
        match &self.lock().status {
            Status::Refused(problem) => Some(problem.clone()),
            _ => None,
        }
    }

    /// Whether the store lacks records.
    pub fn is_behind(&self) -> bool {
        let inner = self.lock();
        inner.sent < inner.end
    }

    fn set(&self, status: Status) {
        let mut inner = self.lock();
        // Nothing that happens later makes a lost lock valid again.
        if !matches!(inner.status, Status::Stopped(_)) {
            inner.status = status;
        }
        inner.waiting.drain(..).for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait until the store has all records of a journal that were written before.
///
/// # Errors
/// The run has lost its lock.
pub struct Durable {
    progress: Option<Arc<Progress>>,
    end: Option<u64>,
}

impl Durable {
    pub(crate) fn new(progress: Option<Arc<Progress>>) -> Self {
        Self { progress, end: None }
    }
}

impl Future for Durable {
    type Output = Result<(), StateError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(progress) = self.progress.clone() else { return Poll::Ready(Ok(())) };
        let mut inner = progress.lock();
        match &inner.status {
            Status::Stopped(problem) => return Poll::Ready(Err(problem.clone())),
            Status::Failing | Status::Refused(_) => return Poll::Ready(Ok(())),
            Status::Working => {}
        }
        let end = *self.end.get_or_insert(inner.end);
        if inner.sent >= end || inner.is_stopped {
            return Poll::Ready(Ok(()));
        }
        inner.waiting.push(context.waker().clone());
        if inner.wanted < end {
            inner.wanted = end;
            progress.wake.notify_all();
        }
        Poll::Pending
    }
}

/// The result of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Done,
    /// The store may take the journal later.
    Failed,
    /// The store takes no more of it.
    Ended,
}

/// Sends the records of a journal to its store, in segments.
pub(crate) struct Sender {
    pub storage: Arc<dyn Storage>,
    pub store: Arc<dyn SegmentStore>,
    pub progress: Arc<Progress>,
    pub run: String,
    /// The number of segments that the store has.
    pub segments: u32,
    /// The file that says how much of the journal the store has.
    pub note: SentNote,
    /// The journals of earlier runs, of which this one is the continuation.
    pub replaced: MergedJournals,
    /// Those of them whose deletion has failed. It is tried again at the end of the run.
    pub undeleted: MergedJournals,
}

impl Sender {
    /// Takes the journals of earlier runs that are still there.
    pub fn take_undeleted(&mut self) -> MergedJournals {
        let mut journals = std::mem::take(&mut self.replaced);
        journals.append(std::mem::take(&mut self.undeleted));
        journals
    }

    /// Sends everything that the journal has now, and notes a failure for those who wait.
    pub fn attempt(&mut self) -> Attempt {
        let Err(problem) = self.send() else { return Attempt::Done };
        let status = match problem.kind {
            StateErrorKind::Io | StateErrorKind::Locked => Status::Failing,
            StateErrorKind::Changed => Status::Stopped(problem),
            _ => Status::Refused(problem),
        };
        let attempt = if matches!(status, Status::Failing) { Attempt::Failed } else { Attempt::Ended };
        self.progress.set(status);
        attempt
    }

    /// Sends everything that the journal has now.
    ///
    /// # Errors
    /// The store fails or refuses the segment, or another run has taken the lock.
    pub fn send(&mut self) -> Result<(), StateError> {
        loop {
            let (start, end) = {
                let inner = self.progress.lock();
                (inner.sent, inner.end)
            };
            let length = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX).min(self.store.longest());
            if length == 0 {
                return Ok(());
            }
            let mut bytes = vec![0; length];
            let read = self.storage.read_at(&mut bytes, start).unwrap_or_default();
            if read < length {
                return Err(unreadable(&self.note.journal()));
            }
            let id = SegmentId { run: self.run.clone(), number: self.segments + 1 };
            let created = match self.store.create(&id, &bytes)? {
                SegmentCreated::Yes => length,
                // An earlier request has created it, and all answers were lost. The journal has grown since.
                SegmentCreated::Exists => match self.store.read(&id)? {
                    Some(found) if !found.is_empty() && bytes.starts_with(&found) => found.len(),
                    _ => return Err(taken_over()),
                },
            };
            self.sent(start + created as u64);
        }
    }

    fn sent(&mut self, sent: u64) {
        self.segments += 1;
        self.note.sent(&self.run, sent);
        let is_complete = {
            let mut inner = self.progress.lock();
            inner.sent = sent;
            if inner.sent == inner.end {
                (inner.records, inner.oldest) = (0, None);
            } else {
                (inner.records, inner.oldest) = (1, Some(Instant::now()));
            }
            inner.status = match std::mem::take(&mut inner.status) {
                Status::Failing => Status::Working,
                status => status,
            };
            inner.waiting.drain(..).for_each(Waker::wake);
            inner.sent == inner.end
        };
        // What earlier runs left is a part of this journal now.
        if is_complete && !self.replaced.is_empty() {
            let replaced = std::mem::take(&mut self.replaced);
            if replaced.delete(&*self.store).is_err() {
                self.undeleted.append(replaced);
            }
        }
    }
}

fn taken_over() -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The state lock was lost",
        "Another run has taken over the state and closed the journal of this run, because the lock of this run had ended. Nothing \
         further is changed here. Run the command again, so that it works with the current state.",
    )
}

fn unreadable(journal: &Path) -> StateError {
    StateError::new(
        StateErrorKind::Io,
        "Failed to read the journal",
        format!(
            "{} is shorter than the records that this run has written to it. Another program may have truncated it.",
            journal.display()
        ),
    )
}

/// The running replication of a journal: its thread, and what it has sent.
pub(crate) struct Replication {
    progress: Arc<Progress>,
    thread: JoinHandle<Sender>,
}

impl Replication {
    /// Starts to send; `None` where no thread can be started.
    pub fn start(sender: Sender) -> Option<Self> {
        let progress = sender.progress.clone();
        let thread = Builder::new().name("replication".to_owned()).spawn(move || run(sender)).ok()?;
        Some(Self { progress, thread })
    }

    /// Ends the replication, and returns the sender; `None` if its thread has panicked.
    pub fn stop(self) -> Option<Sender> {
        self.progress.lock().is_stopped = true;
        self.progress.wake.notify_all();
        self.thread.join().ok()
    }
}

fn run(mut sender: Sender) -> Sender {
    let progress = sender.progress.clone();
    let mut pace = Pace::new(Instant::now());
    loop {
        let mut inner = progress.lock();
        loop {
            if inner.is_stopped || matches!(inner.status, Status::Refused(_) | Status::Stopped(_)) {
                drop(inner);
                progress.set_stopped();
                return sender;
            }
            let Some(wait) = pace.wait(&inner, Instant::now()) else { break };
            inner = progress.wake.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(inner);
        pace.spend(Instant::now());
        if sender.attempt() == Attempt::Failed {
            pace.not_before = Some(Instant::now() + RETRY);
        }
    }
}

impl Progress {
    /// Lets those go on who wait for a replication that has ended.
    fn set_stopped(&self) {
        let mut inner = self.lock();
        inner.is_stopped = true;
        inner.waiting.drain(..).for_each(Waker::wake);
    }
}

/// The rate of requests: a bucket of [`BURST`] tokens, to which each [`INTERVAL`] adds one.
struct Pace {
    /// The time at which the bucket is full.
    full: Instant,
    /// The additional pause after the next request.
    opening: Duration,
    not_before: Option<Instant>,
}

impl Pace {
    fn new(now: Instant) -> Self {
        // There is one token at the beginning.
        Self { full: now + INTERVAL * (BURST - 1), opening: OPENING, not_before: None }
    }

    /// Returns how long the sender waits; `None` if it sends now.
    fn wait(&self, inner: &Inner, now: Instant) -> Option<Duration> {
        const IDLE: Duration = Duration::from_secs(3600);
        let Some(oldest) = inner.oldest else { return Some(IDLE) };
        if let Some(pause) = self.not_before.and_then(|until| until.checked_duration_since(now)) {
            return Some(pause);
        }
        let due = if inner.wanted > inner.sent { now } else { oldest + INTERVAL };
        // The bucket has a token unless it needs longer than for all others to become full.
        let allowed = self.full.checked_sub(INTERVAL * (BURST - 1)).unwrap_or(now);
        due.max(allowed).checked_duration_since(now).filter(|wait| !wait.is_zero())
    }

    fn spend(&mut self, now: Instant) {
        self.full = self.full.max(now) + INTERVAL + std::mem::take(&mut self.opening);
        self.not_before = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent_until(pace: &mut Pace, inner: &Inner, begin: Instant, end: Duration) -> Vec<Duration> {
        let (mut now, mut sent) = (begin, Vec::new());
        while now < begin + end {
            match pace.wait(inner, now) {
                Some(wait) => now += wait,
                None => {
                    pace.spend(now);
                    sent.push(now - begin);
                }
            }
        }
        sent
    }

    #[test]
    fn run_sends_at_most_one_request_a_second_and_five() {
        let begin = Instant::now();
        let inner = Inner { records: 1, oldest: Some(begin), wanted: 1, ..Inner::default() };
        let sent = sent_until(&mut Pace::new(begin), &inner, begin, Duration::from_secs(600));
        assert_eq!(sent[..3], [0, 3000, 4200].map(Duration::from_millis));
        for (index, at) in sent.iter().enumerate() {
            // Lock, state, note, write, deletion of the journal, release; each 20 seconds a renewal and a write. The sharing
            // document and a separate deletion of the first segment make seven of the five.
            let others = 6 + 3 * (at.as_secs() / 20);
            let most = at.as_secs().max(2) + 5;
            assert!(index as u64 + 1 + others <= most, "{} requests after {at:?}", index as u64 + 1 + others);
        }
    }

    #[test]
    fn records_that_nobody_waits_for_are_collected() {
        let now = Instant::now();
        let quiet = Inner { records: 1, oldest: Some(now), ..Inner::default() };
        assert_eq!(Pace::new(now).wait(&quiet, now), Some(INTERVAL));
        // Quiet times are made up for.
        let later = now + Duration::from_secs(60);
        let waiting = Inner { records: 1, oldest: Some(later), wanted: 1, ..Inner::default() };
        let sent = sent_until(&mut Pace::new(now), &waiting, later, Duration::from_millis(1));
        assert_eq!(sent.len(), 3, "the first one is followed by a longer pause");
    }
}
