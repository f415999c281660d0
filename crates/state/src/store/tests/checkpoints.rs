//! The state file while a run goes on, and after it was killed.

use std::time::Instant;

use super::*;
use crate::journal::recover;

/// Waits until `is_so`, which the run brings about by itself.
fn until(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn has_on_disk(directory: &Path, expected: &[&str]) -> bool {
    let bytes = fs::read(state_file(directory)).unwrap_or_default();
    file::read(&bytes).is_ok_and(|state| objects(&state) == expected)
}

fn journal_of(directory: &Path) -> Vec<u8> {
    fs::read(paths(directory).journal()).unwrap()
}

fn has_results(directory: &Path, results: usize) -> bool {
    recover(&journal_of(directory)).unwrap().is_some_and(|found| found.resolved == results)
}

fn create(journal: &crate::Journal, text: &str, id: &str) {
    journal.finished(&address(text), None, &provider(), None, Outcome::Present(object(id))).unwrap();
}

#[test]
fn first_result_of_the_first_run_is_in_the_state_file_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, _) = open(directory.path());
    let mut state = State::default();
    let journal = store.begin_run(&mut state).unwrap();
    create(&journal, "x.a", "a");
    until(|| has_on_disk(directory.path(), &["x.a a"]));
    let killed = copy_of(directory.path());
    // A checkpoint without the lineage could not be matched with later states of the run.
    assert_eq!(on_disk(killed.path()).lineage, state.lineage);
    let (_store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.a a"]);
    assert!(opened.warnings.is_empty(), "{:?}", opened.warnings);
}

#[test]
fn results_reach_the_state_file_during_the_run() {
    let directory = folder_with(&[("x.old", "old")]);
    let (mut store, opened) = open(directory.path());
    store.lag = Duration::from_millis(10);
    let mut state = opened.state.unwrap();
    let journal = store.begin_run(&mut state).unwrap();
    create(&journal, "x.new", "n");
    until(|| has_on_disk(directory.path(), &["x.new n", "x.old old"]));
    assert_eq!(on_disk(directory.path()).serial, 2);
    journal.finished(&address("x.old"), None, &provider(), Some(&object("old")), Outcome::Gone).unwrap();
    until(|| has_on_disk(directory.path(), &["x.new n"]));
    create(&journal, "x.last", "l");
    state.remove(&address("x.old"), None);
    state.insert(&address("x.new"), None, &provider(), object("n"));
    state.insert(&address("x.last"), None, &provider(), object("l"));
    // The checkpoints of the run have the same serial as its final state.
    assert_eq!(store.save(&mut state).unwrap(), Saved::Written(2));
    drop(store);
    assert!(has_on_disk(directory.path(), &["x.last l", "x.new n"]));
    // The journal is gone, because everything in it is in the file.
    assert_eq!(names(directory.path()), ["terraform.tfstate", "terraform.tfstate.backup"]);
    let backup = file::read(&fs::read(directory.path().join("terraform.tfstate.backup")).unwrap()).unwrap();
    // The backup has the state from before the run, not one of its checkpoints.
    assert_eq!((objects(&backup), backup.serial), (vec!["x.old old".to_owned()], 1));
}

/// A killed run that has created `x.new` beside `x.old`, with a checkpoint that is known to be in the file.
fn killed_after_a_checkpoint() -> TempDir {
    let directory = folder_with(&[("x.old", "old")]);
    let (mut store, opened) = open(directory.path());
    store.lag = Duration::from_millis(10);
    let journal = store.begin_run(&mut opened.state.unwrap()).unwrap();
    create(&journal, "x.new", "n");
    until(|| has_results(directory.path(), 1));
    // The next checkpoint is far away: what follows is in the journal alone.
    store.end_checkpoints();
    create(&journal, "x.later", "l");
    copy_of(directory.path())
}

#[test]
fn run_killed_after_a_checkpoint_is_taken_up() {
    let killed = killed_after_a_checkpoint();
    let (store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.later l", "x.new n", "x.old old"]);
    assert!(opened.warnings.is_empty(), "{:?}", opened.warnings);
    drop(store);
    assert!(has_on_disk(killed.path(), &["x.later l", "x.new n", "x.old old"]));
    assert_eq!(on_disk(killed.path()).serial, 3);
}

#[test]
fn object_that_terraform_removes_after_a_checkpoint_stays_removed() {
    let killed = killed_after_a_checkpoint();
    terraform_runs(killed.path(), |state| {
        state.remove(&address("x.new"), None);
    });
    let (_store, opened) = open(killed.path());
    // The checkpoint had x.new in the file, so its removal was deliberate; x.later was never there.
    assert_eq!(objects(&opened.state.unwrap()), ["x.later l", "x.old old"]);
}

#[test]
fn checkpoint_that_was_killed_at_any_byte_is_completed() {
    let killed = killed_after_a_checkpoint();
    let new = fs::read(state_file(killed.path())).unwrap();
    let old = fs::read(killed.path().join("terraform.tfstate.backup")).unwrap();
    let expected = ["x.later l", "x.new n", "x.old old"];
    for done in (1..new.len()).step_by(41) {
        let half = [b"#", &new[1..done], old.get(done..).unwrap_or_default()].concat();
        let copy = copy_of(killed.path());
        fs::write(state_file(copy.path()), half).unwrap();
        let (store, opened) = open(copy.path());
        assert_eq!(objects(&opened.state.unwrap()), expected, "{done}");
        drop(store);
        assert!(has_on_disk(copy.path(), &expected), "{done}");
    }
    // The file as it was before, and as a machine leaves it that stopped before it was on the disk.
    for content in [&old[..], b""] {
        let copy = copy_of(killed.path());
        fs::write(state_file(copy.path()), content).unwrap();
        let (_store, opened) = open(copy.path());
        assert_eq!(objects(&opened.state.unwrap()), expected);
    }
}

#[test]
fn file_of_another_writer_gets_no_checkpoint() {
    let directory = folder_with(&[("x.old", "old")]);
    let (mut store, opened) = open(directory.path());
    store.lag = Duration::from_millis(10);
    let mut state = opened.state.unwrap();
    let journal = store.begin_run(&mut state).unwrap();
    terraform_runs(directory.path(), |state| {
        state.insert(&address("x.theirs"), None, &provider(), object("t"));
    });
    let theirs = fs::read(state_file(directory.path())).unwrap();
    create(&journal, "x.new", "n");
    state.insert(&address("x.new"), None, &provider(), object("n"));
    store.end_checkpoints();
    assert_eq!(store.save(&mut state).unwrap_err().kind, crate::StateErrorKind::Changed);
    // Neither a checkpoint nor the save may have touched the file.
    assert_eq!(fs::read(state_file(directory.path())).unwrap(), theirs);
}

#[test]
fn run_that_begins_twice_compares_the_state_with_its_own_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, _) = open(directory.path());
    let mut state = State::default();
    // Planning begins the run to note what has become of the calls of a killed one; applying begins it again.
    let journal = store.begin_run(&mut state).unwrap();
    create(&journal, "x.found", "f");
    until(|| has_on_disk(directory.path(), &["x.found f"]));
    state.insert(&address("x.found"), None, &provider(), object("f"));
    let journal = store.begin_run(&mut state).unwrap();
    create(&journal, "x.made", "m");
    state.insert(&address("x.made"), None, &provider(), object("m"));
    store.save(&mut state).unwrap();
    assert_eq!(objects(&on_disk(directory.path())), ["x.found f", "x.made m"]);
}
