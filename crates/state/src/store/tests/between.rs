//! Runs of Terraform between a run that was killed and the next.

use super::*;
use crate::object::DeposedKey;

/// A killed run that made, changed and deleted objects.
fn killed_before_terraform() -> TempDir {
    let directory = folder_with(&[("x.changed", "c"), ("x.deleted", "d"), ("x.other", "o")]);
    killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        journal.finished(&address("x.new"), None, &provider(), None, Outcome::Present(object("n"))).unwrap();
        let changed = Arc::new(ObjectRecord::new(0, AttributesJson::new("{\"id\":\"c\",\"note\":\"changed\"}")));
        journal
            .finished(&address("x.changed"), None, &provider(), Some(&object("c")), Outcome::Present(changed))
            .unwrap();
        journal.finished(&address("x.deleted"), None, &provider(), Some(&object("d")), Outcome::Gone).unwrap();
    })
}

#[test]
fn terraform_in_between_on_other_instances_changes_nothing_of_the_recovery() {
    let killed = killed_before_terraform();
    terraform_runs(killed.path(), |state| {
        state.insert(&address("x.other"), None, &provider(), object("o2"));
        state.insert(&address("x.third"), None, &provider(), object("t"));
    });
    let (_store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.changed c", "x.new n", "x.other o2", "x.third t"]);
    assert!(opened.warnings.is_empty());
    assert_eq!(on_disk(killed.path()).serial, 3);
}

#[test]
fn terraform_in_between_on_the_same_instances_wins_and_no_object_is_dropped() {
    let killed = killed_before_terraform();
    terraform_runs(killed.path(), |state| {
        state.insert(&address("x.new"), None, &provider(), object("made by terraform"));
        let refreshed = ObjectRecord::new(0, AttributesJson::new("{\"id\":\"c\",\"note\":\"refreshed\"}"));
        state.insert(&address("x.changed"), None, &provider(), Arc::new(refreshed));
        state.insert(&address("x.deleted"), None, &provider(), object("made again"));
    });
    let (_store, opened) = open(killed.path());
    let state = opened.state.unwrap();
    assert_eq!(
        objects(&state),
        ["x.changed c", "x.deleted made again", "x.new made by terraform", "(x.new n)", "x.other o"]
    );
    assert!(state.object(&address("x.changed"), None).unwrap().attributes.as_str().contains("refreshed"));
    let warnings: Vec<_> = opened.warnings.iter().map(|warning| warning.detail.clone()).collect();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("made an object with the id \"n\" for x.new"), "{warnings:?}");
}

#[test]
fn object_that_the_killed_run_recorded_twice_is_kept_as_deposed_once() {
    let directory = folder_with(&[("x.other", "o")]);
    let killed = killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        let mut tainted = (*object("n")).clone();
        tainted.status = ObjectStatus::Tainted;
        let created = Outcome::Present(Arc::new(tainted.clone()));
        journal.finished(&address("x.new"), None, &provider(), None, created).unwrap();
        let ready = Outcome::Present(object("n"));
        journal.finished(&address("x.new"), None, &provider(), Some(&tainted), ready).unwrap();
    });
    terraform_runs(killed.path(), |state| {
        state.insert(&address("x.new"), None, &provider(), object("theirs"));
    });
    let (_store, opened) = open(killed.path());
    let state = opened.state.unwrap();
    assert_eq!(objects(&state), ["x.new theirs", "(x.new n)", "x.other o"]);
    assert_eq!(state.get(&address("x.new")).unwrap().deposed.values().next(), Some(&object("n")));
    assert_eq!(opened.warnings.iter().count(), 1);
}

#[test]
fn object_that_two_runs_keep_under_different_keys_is_kept_once() {
    let (one, other) = (DeposedKey::generate(), DeposedKey::generate());
    for ends_other_key in [false, true] {
        let directory = folder_with(&[("x.new", "theirs")]);
        let killed = killed_after(directory.path(), |store, state| {
            let journal = store.begin_run(state).unwrap();
            let kept = Outcome::Present(object("n"));
            journal.finished(&address("x.new"), Some(&one), &provider(), None, kept).unwrap();
            if ends_other_key {
                let ended = Outcome::Gone;
                journal.finished(&address("x.new"), Some(&other), &provider(), Some(&object("n")), ended).unwrap();
            }
        });
        terraform_runs(killed.path(), |state| {
            state.insert(&address("x.new"), Some(&other), &provider(), object("n"));
        });
        let (_store, opened) = open(killed.path());
        assert_eq!(objects(&opened.state.unwrap()), ["x.new theirs", "(x.new n)"], "{ends_other_key}");
    }
}

#[test]
fn object_removed_from_the_state_in_between_stays_removed_with_a_warning() {
    let killed = killed_before_terraform();
    terraform_runs(killed.path(), |state| {
        state.remove(&address("x.changed"), None);
    });
    let (_store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.new n", "x.other o"]);
    let warning = opened.warnings.iter().next().unwrap();
    assert_eq!(warning.address.as_ref().map(ToString::to_string).as_deref(), Some("x.changed"));
    assert!(warning.detail.contains("taken it out of the state"), "{}", warning.detail);
}

#[test]
fn terraforms_first_state_in_between_takes_in_what_groma_made_before() {
    let directory = tempfile::tempdir().unwrap();
    let killed = killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        journal.finished(&address("x.a"), None, &provider(), None, Outcome::Present(object("ours"))).unwrap();
        journal.finished(&address("x.b"), None, &provider(), None, Outcome::Present(object("b"))).unwrap();
    });
    let mut theirs = State::new(VERSION);
    theirs.insert(&address("x.a"), None, &provider(), object("theirs"));
    theirs.serial = 4;
    fs::write(state_file(killed.path()), file::write(&theirs)).unwrap();
    let (_store, opened) = open(killed.path());
    let state = opened.state.unwrap();
    assert_eq!(objects(&state), ["x.a theirs", "(x.a ours)", "x.b b"]);
    assert_eq!((&state.lineage, state.serial), (&theirs.lineage, 5));
}

#[test]
fn a_journal_of_another_lineage_is_kept_but_not_used() {
    let killed = killed_before_terraform();
    let mut other = State::new(VERSION);
    other.insert(&address("x.z"), None, &provider(), object("z"));
    fs::write(state_file(killed.path()), file::write(&other)).unwrap();
    let (store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.z z"]);
    assert!(opened.warnings.iter().next().unwrap().detail.contains("another lineage"));
    drop(store);
    let journals: Vec<_> = names(killed.path()).into_iter().filter(|name| name.contains("journal.")).collect();
    assert_eq!(journals.len(), 1);
}

#[test]
fn in_flight_calls_of_another_lineage_are_not_requested_again() {
    for noted in [false, true] {
        let directory = folder_with(&[("x.y", "a")]);
        let killed = killed_after(directory.path(), |store, state| {
            let journal = store.begin_run(state).unwrap();
            journal.begin(&begin("x.new")).unwrap();
            if noted {
                journal.finished(&address("x.y"), None, &provider(), Some(&object("a")), Outcome::Gone).unwrap();
            }
        });
        fs::write(state_file(killed.path()), file::write(&State::new(VERSION))).unwrap();
        let (_store, opened) = open(killed.path());
        assert!(opened.in_flight.is_empty() && !opened.warnings.is_empty());
    }
}

#[test]
fn a_move_that_terraform_repeats_in_between_makes_no_second_object() {
    let directory = folder_with(&[("x.y", "a")]);
    let killed = killed_after(directory.path(), |store, state| {
        state.rename(&address("x.y"), &address("x.z"));
        store.begin_run(state).unwrap();
    });
    terraform_runs(killed.path(), |state| {
        state.rename(&address("x.y"), &address("x.z"));
    });
    let (_store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.z a"]);
}
