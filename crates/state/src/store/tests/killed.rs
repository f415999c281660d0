//! States of runs that were killed: the next run has whatever was done.

use super::*;
use crate::content::Content;
use crate::journal::recover;
use crate::object::DeposedKey;
use crate::store::reconcile::reconcile;

#[test]
fn results_of_a_killed_run_are_in_the_state_of_the_next() {
    let directory = folder_with(&[("x.old", "old"), ("x.changed", "c")]);
    let killed = killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        journal.begin(&begin("x.new")).unwrap();
        journal.finished(&address("x.new"), None, &provider(), None, Outcome::Present(object("n"))).unwrap();
        journal.finished(&address("x.old"), None, &provider(), Some(&object("old")), Outcome::Gone).unwrap();
        let changed = Arc::new(ObjectRecord::new(0, AttributesJson::new("{\"id\":\"c\",\"note\":\"changed\"}")));
        journal
            .finished(&address("x.changed"), None, &provider(), Some(&object("c")), Outcome::Present(changed))
            .unwrap();
        journal.begin(&begin("x.unknown")).unwrap();
    });
    let (store, opened) = open(killed.path());
    let state = opened.state.unwrap();
    assert_eq!(objects(&state), ["x.changed c", "x.new n"]);
    assert!(state.object(&address("x.changed"), None).unwrap().attributes.as_str().contains("changed"));
    assert_eq!(opened.in_flight, [begin("x.unknown")]);
    assert!(opened.warnings.is_empty());
    // It is in the file already, for Terraform to see, and a second look finds the same.
    assert_eq!(objects(&on_disk(killed.path())), ["x.changed c", "x.new n"]);
    assert_eq!(on_disk(killed.path()).serial, 2);
    drop(store);
    let (mut store, opened) = open(killed.path());
    let mut state = opened.state.unwrap();
    assert_eq!((state.serial, opened.in_flight.len()), (2, 1));
    // Once the call is settled nothing is left.
    let journal = store.begin_run(&mut state).unwrap();
    journal.resolved(&address("x.unknown"), None).unwrap();
    store.save(&mut state).unwrap();
    drop(store);
    assert_eq!(names(killed.path()), ["terraform.tfstate", "terraform.tfstate.backup"]);
}

#[test]
fn without_the_lock_results_of_a_killed_run_are_seen_but_not_written_until_something_is() {
    let directory = folder_with(&[]);
    let killed = killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        journal.finished(&address("x.new"), None, &provider(), None, Outcome::Present(object("n"))).unwrap();
    });
    let before = names(killed.path());
    let unlocked = || LocalStore::open(paths(killed.path()), VERSION, &Locking::Off, &|| true).unwrap();
    let (store, opened) = unlocked();
    assert_eq!(objects(&opened.state.unwrap()), ["x.new n"]);
    drop(store);
    assert_eq!(names(killed.path()), before);
    assert!(on_disk(killed.path()).is_empty());
    let (mut store, opened) = unlocked();
    let mut state = opened.state.unwrap();
    store.begin_run(&mut state).unwrap();
    assert_eq!(objects(&on_disk(killed.path())), ["x.new n"]);
}

#[test]
fn the_first_run_of_all_may_be_killed_too() {
    let directory = tempfile::tempdir().unwrap();
    let killed = killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        journal.finished(&address("x.new"), None, &provider(), None, Outcome::Present(object("n"))).unwrap();
    });
    let (_store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.new n"]);
}

#[test]
fn whatever_byte_the_saving_was_killed_at_the_next_run_has_the_new_state() {
    let directory = folder_with(&[("x.old", "old"), ("x.kept", "k")]);
    let old = fs::read(state_file(directory.path())).unwrap();
    let mut noted = 0;
    let mut new = Vec::new();
    // All of the journal, and the new file, as they are just before the file is written.
    let journal = {
        let (mut store, opened) = open(directory.path());
        let mut state = opened.state.unwrap();
        let journal = store.begin_run(&mut state).unwrap();
        journal.finished(&address("x.new"), None, &provider(), None, Outcome::Present(object("n"))).unwrap();
        journal.finished(&address("x.old"), None, &provider(), Some(&object("old")), Outcome::Gone).unwrap();
        state.insert(&address("x.new"), None, &provider(), object("n"));
        state.remove(&address("x.old"), None);
        noted += fs::metadata(store.paths().journal()).unwrap().len() as usize;
        state.serial += 1;
        new.extend(file::write(&state));
        journal.snapshot(&state.lineage, state.serial, &[&new]).unwrap();
        fs::read(store.paths().journal()).unwrap()
    };
    let in_memory = |state: &[u8], journal: &[u8], what: &str| {
        let journal = recover(journal).unwrap();
        let found = reconcile(Path::new("terraform.tfstate"), state, Content::of(state), journal).unwrap();
        assert_eq!(objects(&found.state.unwrap()), ["x.kept k", "x.new n"], "{what}");
    };
    let from_disk = |state: &[u8], journal: &[u8], what: &str| {
        let killed = tempfile::tempdir().unwrap();
        fs::write(state_file(killed.path()), state).unwrap();
        fs::write(paths(killed.path()).journal(), journal).unwrap();
        let (store, opened) = open(killed.path());
        assert_eq!(objects(&opened.state.unwrap()), ["x.kept k", "x.new n"], "{what}");
        drop(store);
        assert_eq!(on_disk(killed.path()).serial, 2, "{what}");
        assert!(!names(killed.path()).contains(&".terraform.tfstate.journal".to_owned()), "{what}");
    };
    for cut in noted..=journal.len() {
        let what = format!("the journal ends at {cut}");
        in_memory(&old, &journal[..cut], &what);
        if (cut - noted) % 97 == 0 {
            from_disk(&old, &journal[..cut], &what);
        }
    }
    for done in 1..new.len().max(old.len()) {
        let mut mixed = vec![b'#'];
        mixed.extend(&new[1..done.clamp(1, new.len())]);
        mixed.extend(old.get(done..).unwrap_or_default());
        let what = format!("{done} bytes are new");
        in_memory(&mixed, &journal, &what);
        if done % 97 == 0 {
            from_disk(&mixed, &journal, &what);
        }
    }
    from_disk(&new, &journal, "all is written and the journal is left");
    let damaged = [b"#", &new[1..]].concat();
    assert!(open_error_of(&damaged).detail.contains("syntax error"), "without the journal it is damaged");
}

#[test]
fn whatever_byte_the_first_saving_was_killed_at_the_next_run_has_the_state() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, _) = open(directory.path());
    let mut state = State::default();
    let journal = store.begin_run(&mut state).unwrap();
    for (text, id) in [("x.a", "a"), ("x.b", "b")] {
        journal.finished(&address(text), None, &provider(), None, Outcome::Present(object(id))).unwrap();
        state.insert(&address(text), None, &provider(), object(id));
    }
    let value = groma_value::Value::string("v");
    let output = crate::OutputValue { ty: value.ty(), value, sensitive: false, deprecated: None };
    state.outputs.insert("o".into(), output.clone());
    assert!(journal.complete(&state).unwrap());
    let mut noted = fs::read(store.paths().journal()).unwrap();
    state.serial = 1;
    let new = file::write(&state);
    for done in 0..=new.len() * 2 {
        if done == new.len() + 1 {
            // From here on the file was a checkpoint before.
            journal.checkpoint(Content::of(b"{}")).unwrap();
            noted = fs::read(store.paths().journal()).unwrap();
        }
        let done = if done > new.len() { done - new.len() } else { done };
        let mut half = if done == 0 { Vec::new() } else { vec![b'#'] };
        half.extend(new.get(1..done).unwrap_or_default());
        let killed = tempfile::tempdir().unwrap();
        fs::write(state_file(killed.path()), &half).unwrap();
        fs::write(paths(killed.path()).journal(), &noted).unwrap();
        if done % 50 > 1 && done < new.len() {
            let found =
                reconcile(Path::new("terraform.tfstate"), &half, Content::of(&half), recover(&noted).unwrap()).unwrap();
            assert_eq!(objects(&found.state.unwrap()), ["x.a a", "x.b b"], "{done}");
            continue;
        }
        let (store, opened) = open(killed.path());
        let found = opened.state.unwrap();
        assert_eq!(objects(&found), ["x.a a", "x.b b"], "{done}");
        assert_eq!(found.outputs.get("o"), Some(&output), "{done}");
        assert_eq!((found.lineage, found.serial), (state.lineage.clone(), 1), "{done}");
        assert_eq!(opened.warnings.is_empty(), done == 0, "{done}");
        drop(store);
        assert_eq!(on_disk(killed.path()).serial, 1, "{done}");
    }
}

#[test]
fn the_first_state_is_noted_as_a_whole_if_an_object_could_not_be() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, _) = open(directory.path());
    let mut state = State::default();
    let journal = store.begin_run(&mut state).unwrap();
    state.insert(&address("x.a"), None, &provider(), object("a"));
    assert!(journal.complete(&state).unwrap(), "nothing failed");
    journal.fail_once();
    assert!(!journal.complete(&state).unwrap());
    store.save(&mut state).unwrap();
    assert_eq!(objects(&on_disk(directory.path())), ["x.a a"]);
}

#[test]
fn half_finished_replacement_keeps_both_objects() {
    let directory = folder_with(&[("x.y", "old")]);
    let killed = killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        let x = address("x.y");
        let old = object("old");
        let key = DeposedKey::generate();
        journal.finished(&x, Some(&key), &provider(), None, Outcome::Present(old.clone())).unwrap();
        journal.finished(&x, None, &provider(), Some(&old), Outcome::Gone).unwrap();
        journal.begin(&begin("x.y")).unwrap();
        journal.finished(&x, None, &provider(), None, Outcome::Present(object("new"))).unwrap();
    });
    let (_store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.y new", "(x.y old)"]);
}

#[test]
fn readers_learn_the_writer_of_a_state_that_is_only_in_the_journal() {
    let directory = tempfile::tempdir().unwrap();
    let killed = killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        journal.finished(&address("x.y"), None, &provider(), None, Outcome::Present(object("a"))).unwrap();
    });
    let (_store, opened) = LocalStore::open(paths(killed.path()), VERSION, &Locking::Off, &|| true).unwrap();
    let state = opened.state.unwrap();
    assert_eq!((state.terraform_version.as_str(), objects(&state)), (VERSION, vec!["x.y a".to_owned()]));
}

#[test]
fn moves_and_a_refresh_before_the_run_are_part_of_the_recovery() {
    let directory = folder_with(&[("x.y", "a"), ("x.drifted", "d"), ("x.vanished", "v"), ("x.same", "s")]);
    let killed = killed_after(directory.path(), |store, state| {
        assert!(state.rename(&address("x.y"), &address("x.z")));
        let refreshed = Arc::new(ObjectRecord::new(0, AttributesJson::new("{\"id\":\"d\",\"note\":\"refreshed\"}")));
        state.insert(&address("x.drifted"), None, &provider(), refreshed.clone());
        state.remove(&address("x.vanished"), None);
        let journal = store.begin_run(state).unwrap();
        let updated = Arc::new(ObjectRecord::new(0, AttributesJson::new("{\"id\":\"d\",\"note\":\"updated\"}")));
        journal
            .finished(&address("x.drifted"), None, &provider(), Some(&refreshed), Outcome::Present(updated))
            .unwrap();
        journal
            .finished(&address("x.z"), None, &provider(), Some(&object("a")), Outcome::Present(object("a2")))
            .unwrap();
    });
    let expected = ["x.drifted d", "x.same s", "x.z a2"];
    let changed_since = copy_of(killed.path());
    terraform_runs(changed_since.path(), |_| {});
    for directory in [killed.path(), changed_since.path()] {
        let (_store, opened) = open(directory);
        let state = opened.state.unwrap();
        assert_eq!(objects(&state), expected);
        assert!(state.object(&address("x.drifted"), None).unwrap().attributes.as_str().contains("updated"));
        assert!(opened.warnings.is_empty());
    }
}

#[test]
fn a_run_may_begin_again_before_it_is_saved() {
    let directory = folder_with(&[("x.y", "a")]);
    let killed = killed_after(directory.path(), |store, state| {
        let first = store.begin_run(state).unwrap();
        first.finished(&address("x.new"), None, &provider(), None, Outcome::Present(object("n"))).unwrap();
        state.insert(&address("x.new"), None, &provider(), object("n"));
        let second = store.begin_run(state).unwrap();
        second.finished(&address("x.y"), None, &provider(), Some(&object("a")), Outcome::Gone).unwrap();
    });
    let (_store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.new n"]);
}

fn killed_with_six() -> TempDir {
    let directory = folder_with(&[("x.old", "old")]);
    killed_after(directory.path(), |store, state| {
        let journal = store.begin_run(state).unwrap();
        for number in 0..6 {
            let (text, id) = (format!("x.y[{number}]"), format!("i{number}"));
            journal.finished(&address(&text), None, &provider(), None, Outcome::Present(object(&id))).unwrap();
        }
        journal.begin(&begin("x.unknown")).unwrap();
    })
}

/// Changes a byte in the middle of the first text that is `needle`.
fn damage(directory: &Path, needle: &str) -> Vec<u8> {
    let path = paths(directory).journal();
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(needle.len()).position(|found| found == needle.as_bytes()).unwrap();
    bytes[at + 1] ^= 1;
    fs::write(&path, &bytes).unwrap();
    bytes
}

fn try_open(
    directory: &Path,
    damaged: DamagedJournal,
    locking: &Locking,
) -> Result<(LocalStore, Opened), crate::StateError> {
    LocalStore::open(paths(directory).with_damaged_journal(damaged), VERSION, locking, &|| true)
}

#[test]
fn damaged_journal_stops_the_run_and_nothing_changes() {
    let killed = killed_with_six();
    let damaged = damage(killed.path(), "of i2");
    let before = fs::read(state_file(killed.path())).unwrap();
    let error = open_error(killed.path());
    assert_eq!(error.summary, "Damaged journal");
    for part in [".terraform.tfstate.journal", "bytes of it cannot be read", "GROMA_DAMAGED_JOURNAL=recover"] {
        assert!(error.detail.contains(part), "{error}");
    }
    assert_eq!(fs::read(state_file(killed.path())).unwrap(), before);
    assert_eq!(fs::read(paths(killed.path()).journal()).unwrap(), damaged);
}

#[test]
fn damaged_journal_is_recovered_in_part_when_asked_for_and_kept() {
    let killed = killed_with_six();
    let damaged = damage(killed.path(), "of i2");
    // Looking changes nothing.
    let (_, opened) = try_open(killed.path(), DamagedJournal::Recover, &Locking::Off).unwrap();
    let expected = ["x.old old", "x.y[0] i0", "x.y[1] i1", "x.y[3] i3", "x.y[4] i4", "x.y[5] i5"];
    assert_eq!(objects(&opened.state.unwrap()), expected);
    assert_eq!(fs::read(paths(killed.path()).journal()).unwrap(), damaged);
    let (store, opened) = try_open(killed.path(), DamagedJournal::Recover, &request(Duration::ZERO)).unwrap();
    assert_eq!(objects(&opened.state.unwrap()), expected);
    let warning = opened.warnings.iter().next().unwrap();
    assert_eq!(warning.summary, "Damaged journal recovered in part");
    drop(store);
    let kept = names(killed.path()).into_iter().find(|name| name.ends_with(".damaged")).unwrap();
    assert!(warning.detail.contains(&kept), "{}", warning.detail);
    assert_eq!(fs::read(killed.path().join(kept)).unwrap(), damaged);
    assert_eq!(objects(&on_disk(killed.path())), expected);
    // The open call is still known, and the damage is no longer in the way.
    let (_, opened) = open(killed.path());
    assert_eq!(opened.in_flight, [begin("x.unknown")]);
    assert!(opened.warnings.is_empty());
}
