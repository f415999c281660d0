//! States in a remote store, with a fake object in place of the store.

use std::sync::Mutex;
use std::thread;

use bytes::Bytes;

use super::*;
use crate::error::{StateError, StateErrorKind};

/// A stored object that counts its writes and fails on demand.
#[derive(Default)]
struct Fake(Mutex<Stored>);

#[derive(Default)]
struct Stored {
    bytes: Vec<u8>,
    writes: usize,
    failure: Option<StateErrorKind>,
}

impl Fake {
    fn state(&self) -> State {
        file::read(&self.0.lock().unwrap().bytes).unwrap()
    }

    fn writes(&self) -> usize {
        self.0.lock().unwrap().writes
    }

    fn fail(&self, kind: StateErrorKind) {
        self.0.lock().unwrap().failure = Some(kind);
    }
}

impl StateObject for Fake {
    fn location(&self) -> String {
        "fake://state".to_owned()
    }

    fn write(&self, _: &State, bytes: &Bytes, _: JournalsAfter) -> Result<(), StateError> {
        let mut stored = self.0.lock().unwrap();
        if let Some(kind) = stored.failure {
            return Err(StateError::of_store(kind, "the store fails", ""));
        }
        stored.bytes = bytes.to_vec();
        stored.writes += 1;
        Ok(())
    }
}

fn open_at(directory: &Path, object: &Arc<Fake>, interval: Option<Duration>) -> (RemoteState, Opened) {
    let options = RemoteOptions {
        paths: paths(directory).with_backup(Backup::None),
        terraform_version: VERSION.to_owned(),
        access: Access::Exclusive,
        replicating: Replicating::Background,
        persist_intervals: interval
            .map(|interval| PersistIntervals { with_journal: interval, without_journal: interval }),
    };
    let bytes = object.0.lock().unwrap().bytes.clone();
    RemoteState::open(object.clone(), Some(bytes), options).unwrap()
}

fn finish(journal: &crate::journal::Journal, text: &str, id: &str) {
    journal.begin(&begin(text)).unwrap();
    journal.finished(&address(text), None, &provider(), None, Outcome::Present(object(id))).unwrap();
}

#[test]
fn results_reach_the_store_at_the_interval_with_rising_serials() {
    let (directory, object_store) = (tempfile::tempdir().unwrap(), Arc::<Fake>::default());
    let (mut store, _) = open_at(directory.path(), &object_store, Some(Duration::from_millis(1)));
    let mut state = State::default();
    let journal = store.begin_run(&mut state).unwrap();
    for (index, name) in ["a.a", "a.b"].into_iter().enumerate() {
        finish(&journal, name, name);
        while object_store.writes() <= index {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(object_store.state().serial, index as u64 + 1);
    }
    assert_eq!(objects(&object_store.state()), ["a.a a.a", "a.b a.b"]);
    for name in ["a.a", "a.b", "a.c"] {
        state.insert(&address(name), None, &provider(), object(name));
    }
    assert_eq!(store.save(&mut state).unwrap(), Saved::Written(3));
    assert_eq!((object_store.state().lineage, object_store.writes()), (state.lineage.clone(), 3));
    assert_eq!(store.save(&mut state).unwrap(), Saved::Unchanged);
    // Neither the state nor the journal stays on this machine.
    assert!(!directory.path().exists() || fs::read_dir(directory.path()).unwrap().next().is_none());
}

#[test]
fn journal_of_a_killed_run_is_merged_into_the_stored_state() {
    let (directory, object_store) = (tempfile::tempdir().unwrap(), Arc::<Fake>::default());
    let (mut store, _) = open_at(directory.path(), &object_store, None);
    let mut state = State::default();
    state.insert(&address("a.old"), None, &provider(), object("old"));
    store.save(&mut state).unwrap();
    let journal = store.begin_run(&mut state).unwrap();
    finish(&journal, "a.new", "new");
    let killed = copy_of(directory.path());
    drop(journal);

    // Another program has changed another object meanwhile, on another machine.
    state.insert(&address("a.theirs"), None, &provider(), object("theirs"));
    state.serial += 1;
    object_store.0.lock().unwrap().bytes = file::write(&state);
    let (_, opened) = open_at(killed.path(), &object_store, None);
    let merged = opened.state.unwrap();
    assert_eq!(objects(&merged), ["a.new new", "a.old old", "a.theirs theirs"]);
    assert_eq!(objects(&object_store.state()), objects(&merged));
    assert_eq!(object_store.state().serial, 3);
    assert!(opened.warnings.is_empty(), "{:?}", opened.warnings);
}

#[test]
fn failed_write_keeps_the_journal_and_the_next_run_recovers_it() {
    let (directory, object_store) = (tempfile::tempdir().unwrap(), Arc::<Fake>::default());
    let (mut store, _) = open_at(directory.path(), &object_store, None);
    let mut state = State::default();
    let journal = store.begin_run(&mut state).unwrap();
    finish(&journal, "a.a", "a");
    state.insert(&address("a.a"), None, &provider(), object("a"));
    object_store.fail(StateErrorKind::Io);
    assert_eq!(store.save(&mut state).unwrap_err().kind, StateErrorKind::Io);
    assert!(store.is_in_journal());
    drop((store, journal));
    object_store.0.lock().unwrap().failure = None;
    let (_, opened) = open_at(directory.path(), &object_store, None);
    assert_eq!(objects(&opened.state.unwrap()), ["a.a a"]);
    assert_eq!(objects(&object_store.state()), ["a.a a"]);
}

#[test]
fn run_after_a_failed_write_writes_at_its_end_only() {
    let (directory, object_store) = (tempfile::tempdir().unwrap(), Arc::<Fake>::default());
    let (mut store, _) = open_at(directory.path(), &object_store, Some(Duration::from_millis(1)));
    let mut state = State::default();
    state.insert(&address("a.old"), None, &provider(), object("old"));
    store.save(&mut state).unwrap();
    state.insert(&address("a.new"), None, &provider(), object("new"));
    object_store.fail(StateErrorKind::Io);
    assert_eq!(store.save(&mut state).unwrap_err().kind, StateErrorKind::Io);
    object_store.0.lock().unwrap().failure = None;
    // The interval has long passed when the run ends, but nobody knows on what a state could be based.
    let journal = store.begin_run(&mut state).unwrap();
    finish(&journal, "a.run", "run");
    thread::sleep(Duration::from_millis(200));
    assert_eq!(object_store.writes(), 1);
    state.insert(&address("a.run"), None, &provider(), object("run"));
    store.save(&mut state).unwrap();
    assert_eq!(objects(&object_store.state()), ["a.new new", "a.old old", "a.run run"]);
}

#[test]
fn conflict_during_the_run_ends_the_writes_and_is_reported_at_the_end() {
    let (directory, object_store) = (tempfile::tempdir().unwrap(), Arc::<Fake>::default());
    let (mut store, _) = open_at(directory.path(), &object_store, Some(Duration::from_millis(1)));
    let mut state = State::default();
    let journal = store.begin_run(&mut state).unwrap();
    object_store.fail(StateErrorKind::Changed);
    finish(&journal, "a.a", "a");
    thread::sleep(Duration::from_millis(300));
    object_store.0.lock().unwrap().failure = None;
    state.insert(&address("a.a"), None, &provider(), object("a"));
    assert_eq!(store.save(&mut state).unwrap_err().kind, StateErrorKind::Changed);
    assert_eq!(object_store.writes(), 0);
}
