use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use tempfile::TempDir;

use super::reconcile::reconcile;
use super::*;
use crate::error::StateErrorKind;
use crate::file;
use crate::journal::{Begin, Operation, Outcome, recover};
use crate::model::State;
use crate::object::{AttributesJson, DeposedKey, ObjectRecord, ObjectStatus};

const VERSION: &str = "1.15.5";

fn request(timeout: Duration) -> Locking {
    Locking::On(LockRequest {
        operation: "OperationTypeApply".into(),
        info: String::new(),
        who: "somebody@somewhere".into(),
        version: "0.1.0".into(),
        timeout,
    })
}

fn paths(directory: &Path) -> StatePaths {
    StatePaths::of_workspace(directory, "default")
}

fn open(directory: &Path) -> (LocalStore, Opened) {
    LocalStore::open(paths(directory), VERSION, &request(Duration::ZERO), &|| true).unwrap()
}

fn open_error(directory: &Path) -> crate::StateError {
    match LocalStore::open(paths(directory), VERSION, &request(Duration::ZERO), &|| true) {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

pub(super) fn provider() -> ProviderConfig {
    ProviderConfig::default_in_root(ProviderAddress::default_for("aws"))
}

pub(super) fn address(text: &str) -> ResourceInstance {
    text.parse().unwrap()
}

fn object(id: &str) -> Arc<ObjectRecord> {
    Arc::new(ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{id}\",\"note\":\"of {id}\"}}"))))
}

pub(super) fn begin(text: &str) -> Begin {
    Begin {
        address: address(text),
        deposed: None,
        operation: Operation::Create,
        provider: provider(),
        schema_version: 0,
        planned_private: (*b"token").into(),
        planned_state: Arc::default(),
        config: Arc::default(),
        meta: Arc::default(),
        dependencies: Default::default(),
        create_before_destroy: false,
        is_kept: false,
        status: ObjectStatus::Ready,
    }
}

/// The state's objects as `address id`, deposed ones in parentheses.
fn objects(state: &State) -> Vec<String> {
    let mut list = Vec::new();
    for view in state.iter() {
        let id = |object: &Arc<ObjectRecord>| object.id_json().unwrap_or_default().replace('"', "");
        list.extend(view.record.current.iter().map(|object| format!("{} {}", view.address(), id(object))));
        list.extend(view.record.deposed.values().map(|object| format!("({} {})", view.address(), id(object))));
    }
    list
}

/// A folder whose state was saved with these objects.
fn folder_with(entries: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, opened) = open(directory.path());
    let mut state = opened.state.unwrap_or_default();
    for (text, id) in entries {
        state.insert(&address(text), None, &provider(), object(id));
    }
    store.save(&mut state).unwrap();
    directory
}

/// Does `run` in a store on `directory`, and kills it: what it left is copied to a new folder.
fn killed_after(directory: &Path, run: impl FnOnce(&mut LocalStore, &mut State)) -> TempDir {
    let (mut store, opened) = open(directory);
    let mut state = opened.state.unwrap_or_default();
    run(&mut store, &mut state);
    copy_of(directory)
}

fn copy_of(directory: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

fn names(directory: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(name).collect();
    names.sort();
    names
}

fn state_file(directory: &Path) -> std::path::PathBuf {
    directory.join("terraform.tfstate")
}

fn on_disk(directory: &Path) -> State {
    file::read(&fs::read(state_file(directory)).unwrap()).unwrap()
}

/// Changes the file as Terraform would: another content, a higher serial.
fn terraform_runs(directory: &Path, change: impl FnOnce(&mut State)) {
    let mut state = on_disk(directory);
    change(&mut state);
    state.serial += 1;
    fs::write(state_file(directory), file::write(&state)).unwrap();
}

#[test]
fn the_first_state_is_written_with_serial_one_and_nothing_else_is_left() {
    let directory = folder_with(&[("x.y", "a")]);
    assert_eq!(names(directory.path()), ["terraform.tfstate"]);
    let state = on_disk(directory.path());
    assert_eq!((state.serial, objects(&state)), (1, vec!["x.y a".to_owned()]));
    assert_eq!(state.terraform_version, VERSION);
    assert_eq!(state.lineage.len(), 36);
}

#[test]
fn a_run_that_changes_nothing_leaves_the_serial_and_makes_no_backup() {
    let directory = folder_with(&[("x.y", "a")]);
    let before = fs::read(state_file(directory.path())).unwrap();
    let (mut store, opened) = open(directory.path());
    let mut state = opened.state.unwrap();
    store.begin_run(&mut state).unwrap();
    assert_eq!(store.save(&mut state).unwrap(), Saved::Unchanged);
    drop(store);
    assert_eq!(fs::read(state_file(directory.path())).unwrap(), before);
    assert_eq!(names(directory.path()), ["terraform.tfstate"]);
}

#[test]
fn a_state_of_an_older_terraform_is_not_rewritten_for_its_layout_alone() {
    let directory = tempfile::tempdir().unwrap();
    let text = r#"{"version":4,"terraform_version":"1.3.0","serial":9,"lineage":"l","outputs":{},"resources":[]}"#;
    fs::write(state_file(directory.path()), text).unwrap();
    let (mut store, opened) = open(directory.path());
    assert_eq!(store.save(&mut opened.state.unwrap()).unwrap(), Saved::Unchanged);
}

#[test]
fn a_change_raises_the_serial_by_one_and_keeps_the_state_before_as_backup() {
    let directory = folder_with(&[("x.y", "a")]);
    let before = fs::read(state_file(directory.path())).unwrap();
    let (mut store, opened) = open(directory.path());
    let mut state = opened.state.unwrap();
    for (serial, id) in [(2, "b"), (3, "c")] {
        state.insert(&address("x.z"), None, &provider(), object(id));
        assert_eq!(store.save(&mut state).unwrap(), Saved::Written(serial));
    }
    drop(store);
    assert_eq!(names(directory.path()), ["terraform.tfstate", "terraform.tfstate.backup"]);
    assert_eq!(fs::read(directory.path().join("terraform.tfstate.backup")).unwrap(), before);
    assert_eq!(on_disk(directory.path()).serial, 3);
}

#[test]
fn a_plan_in_a_new_folder_leaves_no_files() {
    let directory = tempfile::tempdir().unwrap();
    let (store, opened) = open(directory.path());
    assert!(opened.state.is_none() && opened.in_flight.is_empty());
    assert_eq!(names(directory.path()), [".terraform.tfstate.lock.info", "terraform.tfstate"]);
    store.close();
    assert!(names(directory.path()).is_empty());
}

#[test]
fn an_empty_file_is_an_empty_state() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(state_file(directory.path()), "\n").unwrap();
    let (_store, opened) = open(directory.path());
    assert!(opened.state.is_none());
}

#[cfg(unix)]
#[test]
fn state_backup_and_journal_are_for_their_owner_only() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let directory = folder_with(&[("x.y", "a")]);
    let open_to_all = || fs::Permissions::from_mode(0o644);
    fs::set_permissions(state_file(directory.path()), open_to_all()).unwrap();
    fs::write(directory.path().join("terraform.tfstate.backup"), "{}").unwrap();
    fs::set_permissions(directory.path().join("terraform.tfstate.backup"), open_to_all()).unwrap();
    let inode = fs::metadata(state_file(directory.path())).unwrap().ino();
    let (mut store, opened) = open(directory.path());
    let mut state = opened.state.unwrap();
    state.insert(&address("x.z"), None, &provider(), object("b"));
    let _journal = store.begin_run(&mut state).unwrap();
    let mode = |name: &str| fs::metadata(directory.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(".terraform.tfstate.journal"), 0o600);
    assert_eq!(mode(".terraform.tfstate.lock.info"), 0o600);
    store.save(&mut state).unwrap();
    assert_eq!((mode("terraform.tfstate"), mode("terraform.tfstate.backup")), (0o600, 0o600));
    assert_eq!(fs::metadata(state_file(directory.path())).unwrap().ino(), inode, "the file is written in place");
    let errored = write_errored(directory.path(), &state, None).unwrap();
    assert_eq!(mode("errored.tfstate"), 0o600);
    assert_eq!(fs::read(errored).unwrap(), fs::read(state_file(directory.path())).unwrap());
}

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
    journal.settled(&address("x.unknown"), None).unwrap();
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
        let found = reconcile(Path::new("terraform.tfstate"), state, journal).unwrap();
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
    let noted = fs::read(store.paths().journal()).unwrap();
    state.serial = 1;
    let new = file::write(&state);
    for done in 0..=new.len() {
        let mut half = if done == 0 { Vec::new() } else { vec![b'#'] };
        half.extend(new.get(1..done).unwrap_or_default());
        let killed = tempfile::tempdir().unwrap();
        fs::write(state_file(killed.path()), &half).unwrap();
        fs::write(paths(killed.path()).journal(), &noted).unwrap();
        if done % 50 > 1 && done < new.len() {
            let found = reconcile(Path::new("terraform.tfstate"), &half, recover(&noted).unwrap()).unwrap();
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

fn open_error_of(state: &[u8]) -> crate::StateError {
    let directory = tempfile::tempdir().unwrap();
    fs::write(state_file(directory.path()), state).unwrap();
    open_error(directory.path())
}

#[test]
fn a_damaged_file_without_journal_is_named_with_advice() {
    let error = open_error_of(b"{\"version\":4,");
    assert_eq!(error.kind, StateErrorKind::Malformed);
    assert!(error.detail.contains("terraform.tfstate: ") && error.detail.contains(".backup"), "{error}");
}

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
fn an_object_that_somebody_took_out_in_between_stays_out_with_a_warning() {
    let killed = killed_before_terraform();
    terraform_runs(killed.path(), |state| {
        state.remove(&address("x.changed"), None);
    });
    let (_store, opened) = open(killed.path());
    assert_eq!(objects(&opened.state.unwrap()), ["x.new n", "x.other o"]);
    let warning = opened.warnings.iter().next().unwrap();
    assert_eq!(warning.address.as_deref(), Some("x.changed"));
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
fn calls_under_way_for_another_lineage_are_not_asked_after() {
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
fn a_replacement_killed_half_way_has_both_objects() {
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
fn a_state_that_only_the_journal_has_names_its_writer_to_those_who_only_look() {
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

#[test]
fn two_runs_exclude_each_other_and_the_second_says_who_holds_the_lock() {
    let directory = folder_with(&[]);
    let (store, _) = open(directory.path());
    let error = open_error(directory.path());
    assert_eq!((error.kind, &*error.summary), (StateErrorKind::Locked, "Error acquiring the state lock"));
    assert!(error.detail.contains("Who:       somebody@somewhere"), "{error}");
    assert!(error.detail.contains("-lock-timeout"), "{error}");
    drop(store);
    open(directory.path());
}

#[test]
fn the_lock_is_waited_for_and_the_wait_can_be_interrupted() {
    let directory = folder_with(&[]);
    let (store, _) = open(directory.path());
    let interrupted = LocalStore::open(paths(directory.path()), VERSION, &request(Duration::from_secs(60)), &|| false);
    assert_eq!(interrupted.err().map(|error| error.kind), Some(StateErrorKind::Interrupted));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            LocalStore::open(paths(directory.path()), VERSION, &request(Duration::from_secs(60)), &|| true).is_ok()
        });
        std::thread::sleep(Duration::from_millis(300));
        drop(store);
        assert!(waiting.join().unwrap());
    });
}

#[test]
fn two_changing_runs_without_the_lock_are_still_told_apart() {
    let directory = folder_with(&[]);
    let unlocked = || LocalStore::open(paths(directory.path()), VERSION, &Locking::Off, &|| true).unwrap();
    let ((mut one, first), (mut other, second)) = (unlocked(), unlocked());
    let (mut first, mut second) = (first.state.unwrap(), second.state.unwrap());
    let journal = one.begin_run(&mut first).unwrap();
    assert_eq!(other.begin_run(&mut second).err().map(|error| error.kind), Some(StateErrorKind::Locked));
    first.insert(&address("x.y"), None, &provider(), object("a"));
    one.save(&mut first).unwrap();
    drop((one, journal));
    second.insert(&address("x.z"), None, &provider(), object("b"));
    assert_eq!(other.save(&mut second).err().map(|error| error.kind), Some(StateErrorKind::Changed));
    assert_eq!(objects(&on_disk(directory.path())), ["x.y a"]);
}

#[test]
fn a_file_that_was_replaced_meanwhile_is_not_written_over() {
    let directory = folder_with(&[("x.y", "a")]);
    let (mut store, opened) = open(directory.path());
    let mut state = opened.state.unwrap();
    terraform_runs(directory.path(), |state| {
        state.insert(&address("x.z"), None, &provider(), object("z"));
    });
    state.insert(&address("x.q"), None, &provider(), object("q"));
    let error = store.save(&mut state).unwrap_err();
    assert_eq!(error.kind, StateErrorKind::Changed);
    assert_eq!(objects(&on_disk(directory.path())), ["x.y a", "x.z z"]);
}

#[test]
fn another_file_can_be_written_than_read() {
    let directory = folder_with(&[("x.y", "a")]);
    let before = fs::read(state_file(directory.path())).unwrap();
    let out = directory.path().join("out/new.tfstate");
    let paths = paths(directory.path()).writing_to(&out).with_backup(None);
    let (mut store, opened) = LocalStore::open(paths, VERSION, &request(Duration::ZERO), &|| true).unwrap();
    let mut state = opened.state.unwrap();
    assert_eq!(store.save(&mut state).unwrap(), Saved::Written(2));
    assert_eq!(store.save(&mut state).unwrap(), Saved::Unchanged);
    drop(store);
    assert_eq!(fs::read(state_file(directory.path())).unwrap(), before);
    assert_eq!(file::read(&fs::read(out).unwrap()).unwrap().serial, 2);
}

#[test]
fn a_folder_in_place_of_the_file_is_an_error_with_advice() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(state_file(directory.path())).unwrap();
    let error = open_error(directory.path());
    assert!(error.detail.contains("names a folder"), "{error}");
}
