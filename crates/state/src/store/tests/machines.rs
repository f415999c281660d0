//! Runs on machines that are lost: only the store is left to the next one.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Instant;

use bytes::Bytes;

use super::*;
use crate::error::{StateError, StateErrorKind};
use crate::journal::{Journal, SegmentCreated, SegmentId, SegmentStore};

/// A store in memory with a state and its journals.
#[derive(Default)]
struct Shared(Mutex<Content>);

#[derive(Default)]
struct Content {
    bytes: Vec<u8>,
    segments: BTreeMap<SegmentId, Vec<u8>>,
    created: usize,
    failure: Option<StateErrorKind>,
    /// Whether all segments are deleted after they are listed.
    vanishes: bool,
    /// Whether segments are created, but the answers are lost.
    loses_answers: bool,
    /// The number of deletions that fail.
    refused_deletions: usize,
}

impl Shared {
    fn state(&self) -> State {
        file::read(&self.0.lock().unwrap().bytes).unwrap()
    }

    fn segments(&self) -> Vec<String> {
        let content = self.0.lock().unwrap();
        content.segments.keys().filter(|id| !id.is_merge_note()).map(|id| id.number.to_string()).collect()
    }

    /// The runs with notes that they were merged: their own names, if they are short, as those that tests make up.
    fn merge_notes(&self) -> Vec<String> {
        let content = self.0.lock().unwrap();
        let runs = content.segments.keys().filter(|id| id.is_merge_note()).map(|id| id.run.clone());
        runs.map(|run| if run.len() > 2 { "merged".to_owned() } else { run }).collect()
    }

    fn journal_fails(&self, kind: Option<StateErrorKind>) {
        self.0.lock().unwrap().failure = kind;
    }
}

/// The object of one run.
struct Object(Arc<Shared>);

impl StateObject for Object {
    fn location(&self) -> String {
        "shared://state".to_owned()
    }

    fn write(&self, _: &State, bytes: &Bytes, _: JournalsAfter) -> Result<(), StateError> {
        self.0.0.lock().unwrap().bytes = bytes.to_vec();
        Ok(())
    }

    fn journal(&self) -> Option<Arc<dyn SegmentStore>> {
        Some(self.0.clone())
    }
}

impl SegmentStore for Shared {
    fn list(&self) -> Result<Vec<SegmentId>, StateError> {
        let mut content = self.0.lock().unwrap();
        let ids = content.segments.keys().cloned().collect();
        if content.vanishes {
            content.segments.clear();
        }
        Ok(ids)
    }

    fn read(&self, id: &SegmentId) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.lock().unwrap().segments.get(id).cloned())
    }

    fn create(&self, id: &SegmentId, bytes: &[u8]) -> Result<SegmentCreated, StateError> {
        let mut content = self.0.lock().unwrap();
        if let Some(kind) = content.failure {
            return Err(StateError::of_store(kind, "the store fails", ""));
        }
        if let Some(found) = content.segments.get(id) {
            return Ok(if found == bytes { SegmentCreated::Yes } else { SegmentCreated::Exists });
        }
        content.created += 1;
        content.segments.insert(id.clone(), bytes.to_vec());
        match content.loses_answers {
            true => Err(StateError::of_store(StateErrorKind::Io, "no answer", "")),
            false => Ok(SegmentCreated::Yes),
        }
    }

    fn delete(&self, ids: &[SegmentId]) -> Result<(), StateError> {
        let mut content = self.0.lock().unwrap();
        if content.refused_deletions > 0 {
            content.refused_deletions -= 1;
            return Err(StateError::of_store(StateErrorKind::Denied, "the store refuses the deletion", ""));
        }
        ids.iter().for_each(|id| drop(content.segments.remove(id)));
        Ok(())
    }

    fn longest(&self) -> usize {
        1 << 20
    }
}

/// Opens the state on the machine with this directory.
fn open_on(directory: &Path, store: &Arc<Shared>) -> (RemoteState, Opened) {
    try_open_on(directory, store).unwrap()
}

fn try_open_on(directory: &Path, store: &Arc<Shared>) -> Result<(RemoteState, Opened), StateError> {
    try_open_with(directory, store, Replicating::Background)
}

fn try_open_with(
    directory: &Path,
    store: &Arc<Shared>,
    replicating: Replicating,
) -> Result<(RemoteState, Opened), StateError> {
    let day = Duration::from_secs(86400);
    let options = RemoteOptions {
        paths: paths(directory).with_backup(Backup::None),
        terraform_version: VERSION.to_owned(),
        access: Access::Exclusive,
        replicating,
        persist_intervals: Some(PersistIntervals { with_journal: day, without_journal: Duration::from_millis(1) }),
    };
    let bytes = store.0.lock().unwrap().bytes.clone();
    RemoteState::open(Arc::new(Object(store.clone())), Some(bytes), options)
}

fn finish(journal: &Journal, text: &str, id: &str) {
    journal.finished(&address(text), None, &provider(), None, Outcome::Present(object(id))).unwrap();
}

/// Waits until the store has everything in the journal.
fn wait_durable(journal: &Journal) -> Result<(), StateError> {
    let mut durable = std::pin::pin!(journal.durable());
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match durable.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => return result,
            Poll::Pending => assert!(Instant::now() < deadline, "the journal does not reach the store"),
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn new_machine() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn another_machine_recovers_results_and_calls_in_flight() {
    let (store, lost, next) = (Arc::<Shared>::default(), new_machine(), new_machine());
    let (mut run, _) = open_on(lost.path(), &store);
    let mut state = State::default();
    let journal = run.begin_run(&mut state).unwrap();
    journal.begin(&begin("a.done")).unwrap();
    finish(&journal, "a.done", "one");
    journal.begin(&begin("a.flying")).unwrap();
    wait_durable(&journal).unwrap();
    // The machine is lost: nothing of the run is dropped in order.
    std::mem::forget(run);

    let (mut run, opened) = open_on(next.path(), &store);
    let mut state = opened.state.unwrap();
    assert_eq!(objects(&state), ["a.done one"]);
    assert_eq!(opened.in_flight, [begin("a.flying")]);
    assert_eq!(objects(&store.state()), ["a.done one"], "the recovered state is stored at once");
    // The call stays in the store until its result is known.
    let third = new_machine();
    drop(run.begin_run(&mut state).unwrap());
    drop(run);
    let (mut run, opened) = open_on(third.path(), &store);
    assert_eq!(opened.in_flight, [begin("a.flying")]);
    let mut state = opened.state.unwrap();
    let journal = run.begin_run(&mut state).unwrap();
    finish(&journal, "a.flying", "two");
    state.insert(&address("a.flying"), None, &provider(), object("two"));
    run.save(&mut state).unwrap();
    assert_eq!(objects(&store.state()), ["a.done one", "a.flying two"]);
    drop((run, journal));
    let (_, opened) = open_on(new_machine().path(), &store);
    assert_eq!((opened.in_flight.len(), objects(&opened.state.unwrap()).len()), (0, 2));
}

#[test]
fn complete_run_leaves_no_journal_and_a_quick_one_sends_none() {
    let (store, machine) = (Arc::<Shared>::default(), new_machine());
    let (mut run, _) = open_on(machine.path(), &store);
    let mut state = State::default();
    let journal = run.begin_run(&mut state).unwrap();
    finish(&journal, "a.a", "a");
    state.insert(&address("a.a"), None, &provider(), object("a"));
    run.save(&mut state).unwrap();
    assert_eq!(store.0.lock().unwrap().created, 0, "nobody waited for a request");
    let journal = run.begin_run(&mut state).unwrap();
    finish(&journal, "a.b", "b");
    wait_durable(&journal).unwrap();
    assert_eq!(store.segments(), ["1"]);
    state.insert(&address("a.b"), None, &provider(), object("b"));
    run.save(&mut state).unwrap();
    assert!(store.segments().is_empty());
    assert!(!machine.path().exists(), "nothing is left on the machine");
}

#[test]
fn partly_deleted_journal_is_ignored_and_deleted_by_the_next_run() {
    let (store, machine) = (Arc::<Shared>::default(), new_machine());
    let (mut run, _) = open_on(machine.path(), &store);
    let mut state = State::default();
    run.begin_run(&mut state).unwrap();
    state.insert(&address("a.a"), None, &provider(), object("a"));
    run.save(&mut state).unwrap();
    // The service has deleted some of the objects of one request.
    for name in ["aa/1", "aa/3", "bb/2", "cc/1", "cc/2", "cc/5"] {
        store.0.lock().unwrap().segments.insert(SegmentId::parse(name).unwrap(), b"part".to_vec());
    }
    let next = new_machine();
    let (mut run, opened) = open_on(next.path(), &store);
    let mut state = opened.state.unwrap();
    assert_eq!((opened.in_flight.len(), objects(&state)), (0, vec!["a.a a".to_owned()]));
    let journal = run.begin_run(&mut state).unwrap();
    finish(&journal, "a.b", "b");
    wait_durable(&journal).unwrap();
    assert_eq!(store.segments(), ["1"], "only the segment of this run is left");
}

#[test]
fn journal_that_is_deleted_while_it_is_read_asks_for_another_attempt() {
    let (store, machine) = (Arc::<Shared>::default(), new_machine());
    store.0.lock().unwrap().segments.insert(SegmentId::parse("aa/1").unwrap(), b"part".to_vec());
    store.0.lock().unwrap().vanishes = true;
    let refused = try_open_on(machine.path(), &store).err().unwrap();
    assert_eq!(refused.kind, StateErrorKind::Changed, "{refused:?}");
    assert!(try_open_on(machine.path(), &store).is_ok());
}

#[test]
fn run_whose_state_was_taken_over_begins_no_further_call() {
    let (store, paused, next) = (Arc::<Shared>::default(), new_machine(), new_machine());
    let (mut run, _) = open_on(paused.path(), &store);
    let mut state = State::default();
    let journal = run.begin_run(&mut state).unwrap();
    finish(&journal, "a.a", "a");
    wait_durable(&journal).unwrap();
    let (_, opened) = open_on(next.path(), &store);
    assert_eq!(objects(&opened.state.unwrap()), ["a.a a"]);
    journal.begin(&begin("a.b")).unwrap();
    let refused = wait_durable(&journal).unwrap_err();
    assert_eq!((refused.kind, &*refused.summary), (StateErrorKind::Changed, "The state lock was lost"));
    assert_eq!(journal.begin(&begin("a.c")).unwrap_err(), refused);
    // What its calls have done is still recorded on its machine.
    finish(&journal, "a.b", "b");
}

#[test]
fn machine_that_comes_back_does_not_repeat_what_another_has_taken_in() {
    let (store, first, second) = (Arc::<Shared>::default(), new_machine(), new_machine());
    let (mut run, _) = open_on(first.path(), &store);
    let mut state = State::default();
    let journal = run.begin_run(&mut state).unwrap();
    finish(&journal, "a.gone", "gone");
    journal.begin(&begin("a.flying")).unwrap();
    wait_durable(&journal).unwrap();
    // Only this machine has the last result.
    finish(&journal, "a.late", "late");
    let back = copy_of(first.path());
    std::mem::forget(run);

    // The other machine learns what became of the call, and destroys an object.
    let (mut run, opened) = open_on(second.path(), &store);
    let mut state = opened.state.unwrap();
    let journal = run.begin_run(&mut state).unwrap();
    journal.resolved(&address("a.flying"), None).unwrap();
    let gone = state.remove(&address("a.gone"), None);
    journal.finished(&address("a.gone"), None, &provider(), gone.as_deref(), Outcome::Gone).unwrap();
    run.save(&mut state).unwrap();
    drop(run);

    let (_, opened) = open_on(back.path(), &store);
    assert_eq!(objects(&opened.state.unwrap()), ["a.late late"]);
    assert!(opened.in_flight.is_empty(), "{:?}", opened.in_flight);
    assert_eq!(objects(&store.state()), ["a.late late"]);
}

#[test]
fn machine_that_comes_back_learns_what_was_merged_despite_a_lost_answer() {
    let (store, first, second) = (Arc::<Shared>::default(), new_machine(), new_machine());
    let (mut run, _) = open_on(first.path(), &store);
    let mut state = State::default();
    let journal = run.begin_run(&mut state).unwrap();
    finish(&journal, "a.kept", "kept");
    wait_durable(&journal).unwrap();
    // The store has the next result, but this machine does not know that.
    store.0.lock().unwrap().loses_answers = true;
    finish(&journal, "a.gone", "gone");
    wait_durable(&journal).unwrap();
    store.0.lock().unwrap().loses_answers = false;
    finish(&journal, "a.late", "late");
    let back = copy_of(first.path());
    std::mem::forget(run);

    let (mut run, opened) = open_on(second.path(), &store);
    let mut state = opened.state.unwrap();
    assert_eq!(objects(&state), ["a.gone gone", "a.kept kept"]);
    let journal = run.begin_run(&mut state).unwrap();
    let gone = state.remove(&address("a.gone"), None);
    journal.finished(&address("a.gone"), None, &provider(), gone.as_deref(), Outcome::Gone).unwrap();
    run.save(&mut state).unwrap();
    drop(run);
    assert_eq!(store.merge_notes(), ["merged"]);

    let (_, opened) = open_on(back.path(), &store);
    assert_eq!(objects(&opened.state.unwrap()), ["a.kept kept", "a.late late"], "nothing is repeated or lost");
    assert!(store.merge_notes().is_empty(), "nobody needs the note any more");
}

#[test]
fn run_goes_on_after_all_answers_to_a_segment_were_lost() {
    let (store, machine) = (Arc::<Shared>::default(), new_machine());
    let (mut run, _) = try_open_with(machine.path(), &store, Replicating::Caller).unwrap();
    let journal = run.begin_run(&mut State::default()).unwrap();
    store.0.lock().unwrap().loses_answers = true;
    finish(&journal, "a.a", "a");
    run.replicate();
    store.0.lock().unwrap().loses_answers = false;
    // The journal has grown when the request is repeated.
    finish(&journal, "a.b", "b");
    run.replicate();
    assert!(!run.is_journal_behind());
    assert_eq!(store.segments(), ["1", "2"]);
    journal.begin(&begin("a.c")).unwrap();
    std::mem::forget(run);
    let (_, opened) = open_on(new_machine().path(), &store);
    assert_eq!(objects(&opened.state.unwrap()), ["a.a a", "a.b b"]);
}

#[test]
fn journals_that_cannot_be_deleted_are_merged_once() {
    let store = Arc::<Shared>::default();
    store.0.lock().unwrap().refused_deletions = usize::MAX;
    let change = |text: &str, outcome: Option<&str>| {
        let machine = new_machine();
        let (mut run, opened) = open_on(machine.path(), &store);
        let mut state = opened.state.unwrap_or_default();
        let journal = run.begin_run(&mut state).unwrap();
        match outcome {
            Some(id) => {
                finish(&journal, text, id);
                state.insert(&address(text), None, &provider(), object(id));
            }
            None => {
                let gone = state.remove(&address(text), None);
                journal.finished(&address(text), None, &provider(), gone.as_deref(), Outcome::Gone).unwrap();
            }
        }
        wait_durable(&journal).unwrap();
        run.save(&mut state).unwrap();
    };
    change("a.kept", Some("kept"));
    change("a.gone", Some("gone"));
    change("a.gone", None);
    let (_, opened) = open_on(new_machine().path(), &store);
    assert_eq!(objects(&opened.state.unwrap()), ["a.kept kept"], "the destroyed object does not come back");
    assert_eq!(store.segments().len(), 3);
}

#[test]
fn machine_that_comes_back_keeps_the_note_of_a_journal_that_it_cannot_delete() {
    let (store, first, second) = (Arc::<Shared>::default(), new_machine(), new_machine());
    let (mut run, _) = open_on(first.path(), &store);
    let journal = run.begin_run(&mut State::default()).unwrap();
    finish(&journal, "a.gone", "gone");
    wait_durable(&journal).unwrap();
    finish(&journal, "a.late", "late");
    let back = copy_of(first.path());
    std::mem::forget(run);
    store.0.lock().unwrap().refused_deletions = usize::MAX;
    let (mut run, opened) = open_on(second.path(), &store);
    let mut state = opened.state.unwrap();
    let journal = run.begin_run(&mut state).unwrap();
    let gone = state.remove(&address("a.gone"), None);
    journal.finished(&address("a.gone"), None, &provider(), gone.as_deref(), Outcome::Gone).unwrap();
    run.save(&mut state).unwrap();
    drop(run);
    // Both attempts to delete the journal fail, and then the store works again.
    store.0.lock().unwrap().refused_deletions = 2;
    let (run, opened) = open_on(back.path(), &store);
    assert_eq!(objects(&opened.state.unwrap()), ["a.late late"]);
    drop(run);
    assert_eq!(store.0.lock().unwrap().refused_deletions, 0);
    let (_, opened) = open_on(new_machine().path(), &store);
    assert_eq!(objects(&opened.state.unwrap()), ["a.late late"], "the first journal is not merged again");
}

#[test]
fn journal_of_an_earlier_run_that_stays_for_a_while_is_deleted_at_the_end() {
    let (store, lost, next) = (Arc::<Shared>::default(), new_machine(), new_machine());
    let (mut run, _) = open_on(lost.path(), &store);
    let journal = run.begin_run(&mut State::default()).unwrap();
    journal.begin(&begin("a.flying")).unwrap();
    wait_durable(&journal).unwrap();
    std::mem::forget(run);
    let (mut run, opened) = try_open_with(next.path(), &store, Replicating::Caller).unwrap();
    let mut state = opened.state.unwrap_or_default();
    let journal = run.begin_run(&mut state).unwrap();
    store.0.lock().unwrap().refused_deletions = usize::MAX;
    finish(&journal, "a.flying", "flying");
    run.replicate();
    store.0.lock().unwrap().refused_deletions = 0;
    state.insert(&address("a.flying"), None, &provider(), object("flying"));
    run.save(&mut state).unwrap();
    assert_eq!(store.segments(), ["2"], "what closed the journal stays until the next run");
}

#[test]
fn machine_that_recovers_its_own_run_leaves_no_note() {
    let (store, machine) = (Arc::<Shared>::default(), new_machine());
    let (mut run, _) = open_on(machine.path(), &store);
    let journal = run.begin_run(&mut State::default()).unwrap();
    finish(&journal, "a.a", "a");
    wait_durable(&journal).unwrap();
    let back = copy_of(machine.path());
    std::mem::forget(run);
    let (_, opened) = open_on(back.path(), &store);
    assert_eq!(objects(&opened.state.unwrap()), ["a.a a"]);
    assert!(store.merge_notes().is_empty());
}

#[test]
fn old_merge_notes_are_deleted_when_another_one_is_made() {
    let (store, lost, next) = (Arc::<Shared>::default(), new_machine(), new_machine());
    let (mut run, _) = open_on(lost.path(), &store);
    let journal = run.begin_run(&mut State::default()).unwrap();
    finish(&journal, "a.a", "a");
    wait_durable(&journal).unwrap();
    std::mem::forget(run);
    for (name, time) in [("aa/0", 1_600_000_000_u64), ("bb/0", 9_999_999_999)] {
        let note = format!("groma journal merged: 7 bytes, {time}\n").into_bytes();
        store.0.lock().unwrap().segments.insert(SegmentId::parse(name).unwrap(), note);
    }
    open_on(next.path(), &store);
    let mut notes = store.merge_notes();
    notes.sort();
    assert_eq!(notes, ["bb", "merged"]);
}

#[test]
fn store_that_refuses_journals_gets_the_state_more_often() {
    let (store, machine) = (Arc::<Shared>::default(), new_machine());
    let (mut run, _) = open_on(machine.path(), &store);
    let mut state = State::default();
    store.journal_fails(Some(StateErrorKind::Denied));
    let journal = run.begin_run(&mut state).unwrap();
    journal.begin(&begin("a.a")).unwrap();
    wait_durable(&journal).unwrap();
    assert_eq!(run.journal_refusal().map(|problem| problem.kind), Some(StateErrorKind::Denied));
    finish(&journal, "a.a", "a");
    let deadline = Instant::now() + Duration::from_secs(30);
    while store.0.lock().unwrap().bytes.is_empty() {
        assert!(Instant::now() < deadline, "the state is not written");
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(objects(&store.state()), ["a.a a"]);
}
