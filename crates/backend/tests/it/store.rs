//! A store under test, used synchronously.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use groma_backend::{
    Companions, Environment, Expected, HeldLock, Host, JournalStore, JournalsAfter, LockInfo, SegmentCreated, Snapshot,
    StateStore, StoreError, Version, Write, new_lock, registry,
};
use groma_state::LockRequest;
use groma_value::Value;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());

/// A store, with the methods of its trait as blocking ones.
#[derive(Clone)]
pub struct Store(pub Arc<dyn StateStore>);

impl Store {
    /// Creates the store of a backend block.
    pub fn open(ty: &str, config: &Value, variables: &[(&str, &str)]) -> Result<Self, StoreError> {
        let ty = registry::find(ty).unwrap();
        let host = Host {
            environment: Environment::of(variables.iter().copied()),
            user_agent: "Groma/test".to_owned(),
            ..Host::default()
        };
        let config = (ty.schema)().conform(config).unwrap();
        let settings = (ty.schema)().resolve(&config, &host.environment).unwrap();
        let _entered = RUNTIME.enter();
        (ty.open)(&settings, &host).map(Self)
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        RUNTIME.block_on(future)
    }

    pub fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let mut names = self.block_on(self.0.workspaces())?;
        names.sort();
        Ok(names)
    }

    pub fn read(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        self.block_on(self.0.read(workspace))
    }

    pub fn write(
        &self,
        workspace: &str,
        bytes: &[u8],
        expected: Expected,
        lock: Option<&HeldLock>,
    ) -> Result<Version, StoreError> {
        let bytes = &Bytes::copy_from_slice(bytes);
        self.block_on(self.0.write(workspace, Write { bytes, expected, lock, journals: JournalsAfter::Open }))
    }

    /// Writes the state as a run does at its end, when it needs no journal any more.
    pub fn write_last(&self, workspace: &str, bytes: &[u8], expected: Expected) -> Result<Version, StoreError> {
        let bytes = &Bytes::copy_from_slice(bytes);
        self.block_on(self.0.write(workspace, Write { bytes, expected, lock: None, journals: JournalsAfter::Closed }))
    }

    /// Lists the segments of journals.
    pub fn segments(&self, workspace: &str) -> Result<Vec<String>, StoreError> {
        let mut names = self.block_on(self.0.journals().expect("the store keeps journals").segments(workspace))?;
        names.sort();
        Ok(names)
    }

    /// Lists what accompanies a state.
    pub fn companions(&self, workspace: &str) -> Result<Companions, StoreError> {
        let states = self.0.journals().and_then(JournalStore::noted_states);
        self.block_on(states.expect("the store keeps notes").companions(workspace))
    }

    pub fn create_segment(&self, workspace: &str, name: &str, bytes: &[u8]) -> Result<SegmentCreated, StoreError> {
        let journals = self.0.journals().expect("the store keeps journals");
        self.block_on(journals.create_segment(workspace, name, bytes))
    }

    pub fn delete_segments(&self, workspace: &str, names: &[&str]) -> Result<(), StoreError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.block_on(self.0.journals().expect("the store keeps journals").delete_segments(workspace, &names))
    }

    pub fn delete(&self, workspace: &str, lock: Option<&HeldLock>) -> Result<(), StoreError> {
        self.block_on(self.0.delete_workspace(workspace, lock))
    }

    pub fn lock(&self, workspace: &str) -> Result<HeldLock, StoreError> {
        self.block_on(self.0.lock(workspace, &info()))
    }

    pub fn lock_shared(&self, workspace: &str) -> Result<HeldLock, StoreError> {
        let locks = self.0.sharing().and_then(|sharing| sharing.shared_locks()).unwrap();
        self.block_on(locks.lock_shared(workspace, &info()))
    }

    pub fn unlock(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        self.block_on(self.0.unlock(workspace, id))
    }
}

/// A backend block: the second values of arguments replace the first ones.
pub fn block(given: &[(&'static str, Value)], more: &[(&'static str, Value)]) -> Value {
    let arguments: BTreeMap<&str, Value> = given.iter().chain(more).cloned().collect();
    Value::object(arguments)
}

/// The info of a new lock.
pub fn info() -> LockInfo {
    new_lock(&LockRequest {
        operation: "OperationTypeApply".to_owned(),
        info: String::new(),
        who: "tester@here".to_owned(),
        version: "1.15.5".to_owned(),
        timeout: std::time::Duration::ZERO,
    })
}

/// Checks the whole contract of a store with workspaces: conditions of writes, locks, listing and deletion.
pub fn keeps_the_contract(store: &Store) {
    for workspace in ["default", "blue"] {
        assert_eq!(store.read(workspace).unwrap(), None);
        let held = store.lock(workspace).unwrap();
        excludes_others(store, workspace, &held);
        let lock = Some(&held);
        // Stores that lock the object itself have created it, empty.
        let first = match store.read(workspace).unwrap() {
            Some(found) if found.bytes.is_empty() => Expected::Version(found.version),
            found => {
                assert_eq!(found, None, "{workspace}");
                Expected::Absent
            }
        };
        let one = store.write(workspace, br#"{"n":1}"#, first.clone(), lock).unwrap();
        let refused = store.write(workspace, br#"{"n":"other"}"#, first, lock);
        assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
        let two = store.write(workspace, br#"{"n":2}"#, Expected::Version(one.clone()), lock).unwrap();
        assert_ne!(one, two);
        let stale = store.write(workspace, br#"{"n":"stale"}"#, Expected::Version(one), lock);
        assert!(matches!(stale, Err(StoreError::Conflict { .. })), "{stale:?}");
        let found = store.read(workspace).unwrap().unwrap();
        assert_eq!((&found.bytes[..], &found.version), (&br#"{"n":2}"#[..], &two));
        store.write(workspace, br#"{"n":3}"#, Expected::Any, lock).unwrap();
        store.unlock(workspace, &held.id).unwrap();
        let again = store.unlock(workspace, &held.id);
        assert!(matches!(again, Err(StoreError::NotLocked { .. })), "{again:?}");
        let held = store.lock(workspace).unwrap();
        assert_eq!(store.read(workspace).unwrap().unwrap().bytes, br#"{"n":3}"#, "the lock leaves the state alone");
        store.unlock(workspace, &held.id).unwrap();
    }
    assert!(store.workspaces().unwrap().contains(&"blue".to_owned()));
    let held = store.lock("blue").unwrap();
    store.delete("blue", Some(&held)).unwrap();
    // The object may have taken its lock along.
    let _ = store.unlock("blue", &held.id);
    assert!(!store.workspaces().unwrap().contains(&"blue".to_owned()));
    assert_eq!(store.read("blue").unwrap(), None);
    store.delete("blue", None).unwrap();
}

/// Checks the contract of journals: segments are created once, belong to their workspace, and are no workspaces.
pub fn keeps_journals(store: &Store) {
    let journals = store.0.journals().expect("the store keeps journals");
    let before = store.workspaces().unwrap();
    let (first, second) = ("11111111-aaaa/00000001", "11111111-aaaa/00000002");
    for workspace in ["default", "green"] {
        assert_eq!(store.block_on(journals.segments(workspace)).unwrap(), Vec::<String>::new());
        assert_eq!(store.block_on(journals.read_segment(workspace, first)).unwrap(), None);
        for name in [first, second] {
            let bytes = format!("\0\u{1}{workspace} {name}");
            let created = store.block_on(journals.create_segment(workspace, name, bytes.as_bytes()));
            assert_eq!(created.unwrap(), SegmentCreated::Yes);
            let again = store.block_on(journals.create_segment(workspace, name, b"other"));
            assert_eq!(again.unwrap(), SegmentCreated::Exists);
            let found = store.block_on(journals.read_segment(workspace, name)).unwrap();
            assert_eq!(found.as_deref(), Some(bytes.as_bytes()));
        }
    }
    assert_eq!(store.workspaces().unwrap(), before, "journals are no workspaces");
    for workspace in ["default", "green"] {
        let mut names = store.block_on(journals.segments(workspace)).unwrap();
        names.sort();
        assert_eq!(names, [first, second]);
        // A repetition deletes what is not there any more.
        for names in [vec![first, second], vec![second]] {
            let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
            store.block_on(journals.delete_segments(workspace, &names)).unwrap();
        }
        assert_eq!(store.block_on(journals.segments(workspace)).unwrap(), Vec::<String>::new());
    }
}

/// Checks locks with deadlines: the holder renews its record, one of several runs takes it over, and the former holder
/// learns that.
pub fn exchanges_locks(store: &Store, workspace: &str) {
    let leases = store.0.leases().expect("locks of the store have deadlines");
    let replace = |stored: &HeldLock, info: &LockInfo| store.block_on(leases.replace_lock(workspace, stored, info));
    let at = |info: LockInfo, deadline: &str| LockInfo { deadline: deadline.to_owned(), ..info };
    let first = at(info(), "2026-01-01T00:00:00Z");
    let held = store.block_on(store.0.lock(workspace, &first)).unwrap();
    let renewed = replace(&held, &at(held.info.clone(), "2026-01-01T00:01:00Z")).unwrap();
    let stale = replace(&held, &at(held.info.clone(), "2026-01-01T00:02:00Z"));
    assert!(matches!(stale, Err(StoreError::LockLost { .. })), "{stale:?}");
    let Err(StoreError::Locked { holder: Some(seen), .. }) = store.lock(workspace) else { panic!("not locked") };
    assert_eq!(seen.deadline, "2026-01-01T00:01:00Z");
    let seen = HeldLock { id: seen.id.clone(), info: *seen };
    let mut taken = race(6, |_| replace(&seen, &at(info(), "2026-01-01T01:00:00Z"))).into_iter().filter_map(Result::ok);
    let (winner, other) = (taken.next().expect("nobody takes the lock over"), taken.next());
    assert_eq!(other, None, "two runs take the lock over");
    let taken_over = replace(&renewed, &at(renewed.info.clone(), "2026-01-01T00:03:00Z"));
    let Err(StoreError::LockLost { reason, .. }) = taken_over else { panic!("{taken_over:?}") };
    // Stores whose condition was refused at the last moment cannot name the holder.
    assert!(reason.contains("tester@here") || reason.contains("released"), "{reason}");
    store.unlock(workspace, &winner.id).unwrap();
    let free = replace(&winner, &at(info(), "2026-01-01T02:00:00Z"));
    assert!(matches!(free, Err(StoreError::LockLost { .. })), "{free:?}");
}

/// Checks that a renewal succeeds although `lose_answer` loses the answer to its next write.
pub fn renews_without_an_answer(store: &Store, workspace: &str, lose_answer: impl FnOnce()) {
    let leases = store.0.leases().expect("locks of the store have deadlines");
    let held = store.lock(workspace).unwrap();
    let later = LockInfo { deadline: "2026-01-01T00:01:00Z".to_owned(), ..held.info.clone() };
    lose_answer();
    let renewed = store.block_on(leases.replace_lock(workspace, &held, &later)).unwrap();
    assert_eq!(renewed.info.deadline, later.deadline);
    store.unlock(workspace, &renewed.id).unwrap();
}

fn excludes_others(store: &Store, workspace: &str, held: &HeldLock) {
    let refused = store.lock(workspace).unwrap_err();
    assert!(refused.is_held_lock(), "{refused:?}");
    let StoreError::Locked { holder: Some(holder), .. } = refused else { panic!("{refused:?}") };
    assert_eq!((holder.who.as_str(), holder.id.as_str()), ("tester@here", held.id.as_str()));
    let other = "00000000-0000-0000-0000-000000000000";
    let mismatch = store.unlock(workspace, other);
    assert!(matches!(mismatch, Err(StoreError::LockIdMismatch { .. })), "{mismatch:?}");
}

/// Checks that exactly one of several racing runs gets the lock, and one of several racing writers succeeds.
pub fn has_one_winner(store: &Store, workspace: &str) {
    const RUNS: usize = 12;
    let locks = race(RUNS, |_| store.lock(workspace));
    let mut held = locks.into_iter().filter_map(Result::ok);
    let (winner, other) = (held.next().expect("nobody gets the lock"), held.next());
    assert_eq!(other, None, "two runs hold the lock");
    let first = match store.read(workspace).unwrap() {
        Some(found) => Expected::Version(found.version),
        None => Expected::Absent,
    };
    let body = |run: usize| format!("{{\"run\":{run}}}");
    let writes = race(RUNS, |run| store.write(workspace, body(run).as_bytes(), first.clone(), Some(&winner)));
    let done: Vec<usize> = (0..RUNS).filter(|run| writes[*run].is_ok()).collect();
    assert_eq!(done.len(), 1, "{writes:?}");
    assert_eq!(store.read(workspace).unwrap().unwrap().bytes, body(done[0]).as_bytes());
    store.unlock(workspace, &winner.id).unwrap();
}

fn race<T: Send>(runs: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..runs).map(|number| scope.spawn(move || run(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
