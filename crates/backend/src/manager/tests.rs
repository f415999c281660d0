//! The manager over a store that fails on demand.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use groma_state::{
    Backup, DamagedJournal, JournalsAfter, LockRequest, Locking, PersistIntervals, State, StateErrorKind, StateObject,
};

use super::backend::RemoteBackend;
use super::guard::{ReleaseReport, Waiting};
use super::object::StoredObject;
use super::open::OpenOptions;
use crate::error::StoreError;
use crate::lock_info::LockInfo;
use crate::registry;
use crate::store::{
    Companions, Expected, HeldLock, JournalStore, LeaseStore, NotedState, NotedStateStore, SegmentCreated, Snapshot,
    StateStore, StoreFuture, Version, Write,
};
use crate::{Environment, Host};

/// One object and one lock.
#[derive(Default)]
struct Flaky(Mutex<Stored>);

#[derive(Default)]
struct Stored {
    bytes: Option<Vec<u8>>,
    writes: u64,
    lock: Option<LockInfo>,
    /// How many writes are done without an answer.
    unanswered_writes: usize,
    /// How many further requests to read or write the state fail, after that.
    failing_requests: usize,
    /// Whether each renewal gives the lock another identifier.
    renames_locks: bool,
    /// The time until a renewal is answered.
    renewal_delay: Duration,
    /// How many releases are done without an answer.
    unanswered_unlocks: usize,
    /// How many renewals are done without an answer.
    unanswered_renewals: usize,
    attempts: usize,
    /// The requests for the state and its journals.
    requests: Vec<&'static str>,
    /// How many times another run writes the state while the journals are listed.
    writes_between: usize,
    /// Whether the journals cannot be listed.
    has_expired: bool,
    /// Whether there is a sharing document.
    has_sharing: bool,
}

impl Stored {
    fn fails(&mut self) -> bool {
        let fails = self.unanswered_writes == 0 && self.failing_requests > 0;
        self.failing_requests -= usize::from(fails);
        fails
    }
}

fn no_response<T>() -> Result<T, StoreError> {
    Err(StoreError::Network { service: "flaky".to_owned(), reason: "the connection broke".to_owned() })
}

fn ready<'a, T: Send + 'a>(result: Result<T, StoreError>) -> StoreFuture<'a, T> {
    Box::pin(std::future::ready(result))
}

impl StateStore for Flaky {
    fn location(&self, _: &str) -> String {
        "flaky".to_owned()
    }

    fn workspaces(&self) -> StoreFuture<'_, Vec<String>> {
        ready(Ok(vec!["b".to_owned(), "default".to_owned(), "a".to_owned()]))
    }

    fn read<'a>(&'a self, _: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        let mut stored = self.0.lock().unwrap();
        if stored.fails() {
            return ready(no_response());
        }
        let version = Version(stored.writes.to_string());
        ready(Ok(stored.bytes.clone().map(|bytes| Snapshot { bytes, version })))
    }

    fn write<'a>(&'a self, _: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        let mut stored = self.0.lock().unwrap();
        stored.attempts += 1;
        if stored.fails() {
            return ready(no_response());
        }
        let current = stored.bytes.as_ref().map(|_| Version(stored.writes.to_string()));
        let is_expected = match write.expected {
            Expected::Any => true,
            Expected::Absent => current.is_none(),
            Expected::Version(version) => current == Some(version),
        };
        if !is_expected {
            return ready(Err(StoreError::Conflict { location: "flaky".to_owned(), found: current }));
        }
        stored.bytes = Some(write.bytes.to_vec());
        stored.writes += 1;
        if stored.unanswered_writes > 0 {
            stored.unanswered_writes -= 1;
            return ready(no_response());
        }
        ready(Ok(Version(stored.writes.to_string())))
    }

    fn delete_workspace<'a>(&'a self, _: &'a str, _: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        ready(Ok(()))
    }

    fn lock<'a>(&'a self, _: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        let mut stored = self.0.lock().unwrap();
        stored.attempts += 1;
        if let Some(holder) = stored.lock.clone() {
            return ready(Err(StoreError::Locked { holder: Some(Box::new(holder)), reason: "held".to_owned() }));
        }
        stored.lock = Some(info.clone());
        ready(Ok(HeldLock { id: info.id.clone(), info: info.clone() }))
    }

    fn unlock<'a>(&'a self, _: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        let mut stored = self.0.lock().unwrap();
        match stored.lock.take() {
            None => ready(Err(StoreError::NotLocked { location: "flaky".to_owned() })),
            Some(holder) if holder.id == id && stored.unanswered_unlocks > 0 => {
                stored.unanswered_unlocks -= 1;
                ready(no_response())
            }
            Some(holder) if holder.id == id => ready(Ok(())),
            Some(holder) => {
                stored.lock = Some(holder);
                ready(Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: None }))
            }
        }
    }

    fn leases(&self) -> Option<&dyn LeaseStore> {
        Some(self)
    }

    fn journals(&self) -> Option<&dyn JournalStore> {
        Some(self)
    }
}

impl JournalStore for Flaky {
    fn segments<'a>(&'a self, _: &'a str) -> StoreFuture<'a, Vec<String>> {
        ready(Ok(Vec::new()))
    }

    fn read_segment<'a>(&'a self, _: &'a str, _: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        ready(Ok(None))
    }

    fn create_segment<'a>(&'a self, _: &'a str, _: &'a str, _: &'a [u8]) -> StoreFuture<'a, SegmentCreated> {
        ready(Ok(SegmentCreated::Yes))
    }

    fn delete_segments<'a>(&'a self, _: &'a str, _: &'a [String]) -> StoreFuture<'a, ()> {
        ready(Ok(()))
    }

    fn noted_states(&self) -> Option<&dyn NotedStateStore> {
        Some(self)
    }
}

impl NotedStateStore for Flaky {
    fn read_noted<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<NotedState>> {
        self.0.lock().unwrap().requests.push("read");
        let found = self.read(workspace);
        Box::pin(async move { Ok(found.await?.map(|snapshot| NotedState { snapshot, journals: JournalsAfter::Open })) })
    }

    fn companions<'a>(&'a self, _: &'a str) -> StoreFuture<'a, Companions> {
        let mut stored = self.0.lock().unwrap();
        stored.requests.push("list");
        if stored.has_expired {
            let service = "flaky".to_owned();
            let problem = StoreError::Unauthenticated { service, reason: String::new(), advice: String::new() };
            return ready(Err(problem));
        }
        if stored.writes_between > 0 {
            stored.writes_between -= 1;
            stored.writes += 1;
        }
        let version = stored.bytes.as_ref().map(|_| Version(stored.writes.to_string()));
        ready(Ok(Companions { version, segments: Vec::new(), has_sharing: stored.has_sharing }))
    }
}

impl LeaseStore for Flaky {
    fn replace_lock<'a>(&'a self, _: &'a str, held: &'a HeldLock, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        let mut stored = self.0.lock().unwrap();
        if stored.lock.as_ref() != Some(info) && stored.lock.as_ref() != Some(&held.info) {
            return ready(Err(StoreError::lock_loss("flaky".to_owned(), stored.lock.as_ref())));
        }
        let renewed = match stored.renames_locks && stored.lock.as_ref() != Some(info) {
            true => LockInfo { id: format!("{}+", held.id), ..info.clone() },
            false => info.clone(),
        };
        stored.lock = Some(renewed.clone());
        if stored.unanswered_renewals > 0 {
            stored.unanswered_renewals -= 1;
            return ready(no_response());
        }
        let delay = stored.renewal_delay;
        Box::pin(async move {
            tokio::time::sleep(delay).await;
            Ok(HeldLock { id: renewed.id.clone(), info: renewed })
        })
    }
}

fn backend(store: &Arc<Flaky>) -> RemoteBackend {
    let ty = registry::find("inmem").unwrap();
    let config = (ty.schema)().conform(&groma_value::Value::NULL).unwrap();
    let host = Host { environment: Environment::default(), ..Host::default() };
    RemoteBackend::connect(ty, config, &host).unwrap().over(store.clone())
}

fn request(timeout: Duration) -> LockRequest {
    LockRequest {
        operation: "OperationTypeApply".to_owned(),
        info: String::new(),
        who: "me@here".to_owned(),
        version: "1.15.5".to_owned(),
        timeout,
    }
}

/// Goes on waiting until the deadline.
struct Until(Instant);

impl Waiting for Until {
    fn keep_waiting(&self) -> bool {
        Instant::now() < self.0
    }

    fn is_slow(&self, _: &str) {}
}

/// Does not wait.
struct Never;

impl Waiting for Never {
    fn keep_waiting(&self) -> bool {
        false
    }

    fn is_slow(&self, _: &str) {}
}

fn reports() -> (ReleaseReport, Arc<Mutex<Vec<StoreError>>>) {
    let seen = Arc::<Mutex<Vec<StoreError>>>::default();
    let kept = Arc::clone(&seen);
    (Arc::new(move |problem, _| kept.lock().unwrap().push(problem.clone())), seen)
}

#[test]
fn write_whose_response_never_arrives_is_recognized_as_done() {
    let store = Arc::<Flaky>::default();
    store.0.lock().unwrap().unanswered_writes = 1;
    let object = StoredObject::new(backend(&store), "default", None, None);
    object.write(&State::default(), &Bytes::from_static(b"one"), JournalsAfter::Open).unwrap();
    object.write(&State::default(), &Bytes::from_static(b"two"), JournalsAfter::Open).unwrap();
    assert_eq!(store.0.lock().unwrap().attempts, 2, "nothing was written twice");
    // Another writer comes in between.
    store.0.lock().unwrap().writes += 1;
    assert_eq!(
        object.write(&State::default(), &Bytes::from_static(b"three"), JournalsAfter::Open).unwrap_err().kind,
        StateErrorKind::Changed
    );
    assert_eq!(store.0.lock().unwrap().bytes.as_deref(), Some(&b"two"[..]));
}

#[test]
fn write_is_recognized_as_done_by_a_later_one() {
    let store = Arc::<Flaky>::default();
    let object = StoredObject::new(backend(&store), "default", None, None);
    let write = |bytes| object.write(&State::default(), &Bytes::from_static(bytes), JournalsAfter::Open);
    // One write is done without an answer; three repetitions and the reads before them fail.
    let fail = |requests| {
        let mut stored = store.0.lock().unwrap();
        (stored.unanswered_writes, stored.failing_requests) = (1, requests);
    };
    fail(6);
    assert_eq!(write(b"one").unwrap_err().kind, StateErrorKind::Io);
    write(b"two").unwrap();
    assert_eq!(store.0.lock().unwrap().bytes.as_deref(), Some(&b"two"[..]));
    // The read before the repetition fails, and the repetition meets this run's own version.
    fail(1);
    write(b"three").unwrap();
    assert_eq!(store.0.lock().unwrap().writes, 3);
}

#[test]
fn lock_is_tried_once_or_waited_for_until_an_interrupt() {
    let store = Arc::<Flaky>::default();
    let holder = LockInfo { id: "theirs".to_owned(), ..LockInfo::default() };
    store.0.lock().unwrap().lock = Some(holder);
    let backend = backend(&store);
    let far = Until(Instant::now() + Duration::from_secs(60));
    let tried = backend.lock("default", &request(Duration::ZERO), &far, reports().0);
    assert!(matches!(tried, Err(StoreError::Locked { .. })));
    assert_eq!(store.0.lock().unwrap().attempts, 1);
    let begin = Instant::now();
    let soon = Until(Instant::now() + Duration::from_millis(300));
    assert!(backend.lock("default", &request(Duration::from_secs(60)), &soon, reports().0).is_err());
    assert!(begin.elapsed() < Duration::from_secs(5), "an interrupt ends the wait");
    let freed = Arc::clone(&store);
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        freed.0.lock().unwrap().lock = None;
    });
    let guard = backend.lock("default", &request(Duration::from_secs(60)), &far, reports().0).unwrap();
    thread.join().unwrap();
    assert_eq!(guard.held().unwrap().info.who, "me@here");
}

#[test]
fn release_is_repeated_and_its_failure_reported() {
    let store = Arc::<Flaky>::default();
    let backend = backend(&store);
    let far = Until(Instant::now() + Duration::from_secs(60));
    let (report, seen) = reports();
    store.0.lock().unwrap().unanswered_unlocks = 1;
    drop(backend.lock("default", &request(Duration::ZERO), &far, report.clone()).unwrap());
    assert!(seen.lock().unwrap().is_empty(), "the lost answer is no failure");
    let guard = backend.lock("default", &request(Duration::ZERO), &far, report).unwrap();
    store.0.lock().unwrap().lock = None;
    drop(guard);
    assert!(matches!(seen.lock().unwrap()[..], [StoreError::NotLocked { .. }]), "somebody forced the lock open");
}

#[test]
fn lock_outlives_renewals_whose_responses_never_arrive() {
    let store = Arc::<Flaky>::default();
    let backend = backend(&store);
    let far = Until(Instant::now() + Duration::from_secs(60));
    let guard = backend.lock("default", &request(Duration::ZERO), &far, reports().0).unwrap();
    let keeper = guard.keeper().unwrap();
    let renew = || backend.block_on(keeper.renew());
    store.0.lock().unwrap().unanswered_renewals = 2;
    assert!(matches!(renew(), Err(StoreError::Network { .. })));
    assert!(matches!(renew(), Err(StoreError::Network { .. })));
    renew().unwrap();
    assert_eq!(store.0.lock().unwrap().lock, guard.held().map(|held| held.info));
    store.0.lock().unwrap().lock = Some(LockInfo { id: "theirs".to_owned(), ..LockInfo::default() });
    assert!(matches!(renew(), Err(StoreError::LockLost { .. })));
    assert!(keeper.is_taken_over());
}

#[test]
fn lock_is_released_although_the_last_renewal_is_not_answered_yet() {
    let store = Arc::<Flaky>::default();
    let backend = backend(&store);
    let far = Until(Instant::now() + Duration::from_secs(60));
    let (report, seen) = reports();
    let guard = backend.lock("default", &request(Duration::ZERO), &far, report).unwrap();
    {
        let mut stored = store.0.lock().unwrap();
        (stored.renames_locks, stored.renewal_delay) = (true, Duration::from_millis(500));
    }
    let keeper = Arc::clone(guard.keeper().unwrap());
    let renewing = std::thread::spawn({
        let backend = backend.clone();
        move || backend.block_on(keeper.renew())
    });
    let id = guard.held().unwrap().id;
    while store.0.lock().unwrap().lock.as_ref().is_some_and(|lock| lock.id == id) {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(guard);
    renewing.join().unwrap().unwrap();
    assert!(seen.lock().unwrap().is_empty(), "{seen:?}");
    assert_eq!(store.0.lock().unwrap().lock, None);
}

fn options<'a>(locking: &'a Locking, journals: &'a Path) -> OpenOptions<'a> {
    let day = Duration::from_secs(86_400);
    OpenOptions {
        locking,
        waiting: &Never,
        report: Arc::new(|problem, _| panic!("{problem}")),
        encryption: None,
        backup: Backup::None,
        damaged_journal: DamagedJournal::Refuse,
        journals,
        terraform_version: "1.15.5",
        persist_intervals: PersistIntervals { with_journal: day, without_journal: day },
    }
}

#[test]
fn state_is_read_again_only_if_its_version_has_changed() {
    const PASS: [&str; 2] = ["read", "list"];
    let store = Arc::<Flaky>::default();
    let backend = backend(&store);
    let requests = || std::mem::take(&mut store.0.lock().unwrap().requests);
    let journals = tempfile::tempdir().unwrap();
    let locking = Locking::On(request(Duration::ZERO));
    let open = || backend.open("default", options(&locking, journals.path())).map(drop);
    open().unwrap();
    assert_eq!(requests(), PASS);
    store.0.lock().unwrap().bytes = Some(groma_state::file::write(&State::default()));
    store.0.lock().unwrap().writes_between = 2;
    open().unwrap();
    assert_eq!(requests(), PASS.repeat(3));
    store.0.lock().unwrap().writes_between = usize::MAX;
    assert_eq!(open().unwrap_err().kind, StateErrorKind::Changed);
    assert_eq!(requests(), PASS.repeat(5));
    store.0.lock().unwrap().has_expired = true;
    assert_eq!(open().unwrap_err().kind, StateErrorKind::Denied);
    assert_eq!(requests(), ["read", "list"], "nothing is asked after a failure");
}

#[test]
fn state_that_may_be_shared_or_is_locked_is_left_alone() {
    let store = Arc::<Flaky>::default();
    let backend = backend(&store);
    let journals = tempfile::tempdir().unwrap();
    let locking = Locking::On(request(Duration::ZERO));
    let open = |locking: &Locking| backend.open_unshared("default", &options(locking, journals.path())).unwrap();
    store.0.lock().unwrap().bytes = Some(groma_state::file::write(&State::default()));
    let opened = open(&locking).expect("there is no sharing document");
    assert!(opened.handle.held().is_some());
    assert!(open(&locking).is_none(), "the state is locked");
    assert_eq!(store.0.lock().unwrap().lock, opened.handle.held().map(|held| held.info), "and stays so");
    drop(opened);
    assert!(open(&Locking::Off).is_none());
    store.0.lock().unwrap().writes_between = 1;
    assert!(open(&locking).is_none(), "another run writes the state");
    store.0.lock().unwrap().has_sharing = true;
    assert!(open(&locking).is_none(), "the sharing document decides");
    assert_eq!(store.0.lock().unwrap().lock, None, "the lock is released each time");
    store.0.lock().unwrap().attempts = 0;
    assert!(open(&locking).is_none());
    assert_eq!(store.0.lock().unwrap().attempts, 0, "this machine knows that the state was shared");
}

#[test]
fn default_workspace_is_listed_first() {
    let store = Arc::<Flaky>::default();
    assert_eq!(backend(&store).workspaces().unwrap(), ["default", "a", "b"]);
}
