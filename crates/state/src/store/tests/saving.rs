//! States of runs that come to their end.

use std::io::Read;

use super::*;
use crate::error::StateErrorKind;
use crate::store::write_whole;

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
fn another_file_can_be_written_than_read() {
    let directory = folder_with(&[("x.y", "a")]);
    let before = fs::read(state_file(directory.path())).unwrap();
    let out = directory.path().join("out/new.tfstate");
    let paths = paths(directory.path()).writing_to(&out).with_backup(Backup::None);
    let (mut store, opened) = LocalStore::open(paths, VERSION, &request(Duration::ZERO), &|| true).unwrap();
    let mut state = opened.state.unwrap();
    assert_eq!(store.save(&mut state).unwrap(), Saved::Written(2));
    assert_eq!(store.save(&mut state).unwrap(), Saved::Unchanged);
    drop(store);
    assert_eq!(fs::read(state_file(directory.path())).unwrap(), before);
    assert_eq!(file::read(&fs::read(out).unwrap()).unwrap().serial, 2);
}

#[test]
fn directory_instead_of_the_file_is_an_error_with_advice() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(state_file(directory.path())).unwrap();
    let error = open_error(directory.path());
    assert!(error.detail.contains("is a directory"), "{error}");
}

#[test]
fn a_damaged_file_without_journal_is_named_with_advice() {
    let error = open_error_of(b"{\"version\":4,");
    assert_eq!(error.kind, StateErrorKind::Malformed);
    assert!(error.detail.contains("terraform.tfstate: ") && error.detail.contains(".backup"), "{error}");
}

#[test]
fn partial_backup_of_a_killed_process_is_removed() {
    let directory = folder_with(&[("x.a", "a")]);
    let left = directory.path().join(".terraform.tfstate.tmp");
    for backup in [Backup::New, Backup::At(directory.path().join("terraform.tfstate.backup"))] {
        fs::write(&left, "half of a backup").unwrap();
        let paths = paths(directory.path()).with_backup(backup);
        let (mut store, opened) = LocalStore::open(paths, VERSION, &request(Duration::ZERO), &|| true).unwrap();
        let mut state = opened.state.unwrap();
        state.insert(&address("x.b"), None, &provider(), object(&state.serial.to_string()));
        store.save(&mut state).unwrap();
        assert!(!left.exists());
    }
    let backups = names(directory.path()).into_iter().filter(|name| name.ends_with(".backup")).count();
    assert_eq!(backups, 2);
}

#[test]
fn temporary_file_that_is_being_written_is_left_alone() {
    let directory = folder_with(&[("x.a", "a")]);
    let busy = directory.path().join(".plan.tmp");
    let file = open::open_private(&busy).unwrap();
    assert!(open::try_lock(&file).unwrap());
    write_whole(&directory.path().join("plan"), b"content").unwrap();
    assert!(busy.exists());
    assert_eq!(fs::read(directory.path().join("plan")).unwrap(), b"content");
}

#[test]
fn backups_made_in_the_same_second_have_names_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let file = state_file(directory.path());
    let claimed: std::collections::HashSet<_> = (0..20).map(|_| claim_backup(&file).unwrap()).collect();
    assert_eq!(claimed.len(), 20);
}

#[test]
fn state_with_the_largest_serial_is_not_followed_by_a_smaller_one() {
    let directory = folder_with(&[("x.a", "a")]);
    let mut state = on_disk(directory.path());
    state.serial = u64::MAX;
    fs::write(state_file(directory.path()), file::write(&state)).unwrap();
    let (mut store, opened) = open(directory.path());
    let mut state = opened.state.unwrap();
    state.insert(&address("x.b"), None, &provider(), object("b"));
    for error in [store.begin_run(&mut state).map(|_| ()).unwrap_err(), store.save(&mut state).map(|_| ()).unwrap_err()]
    {
        assert_eq!(error.summary, "State serial out of range");
    }
    drop(store);
    assert_eq!(on_disk(directory.path()).serial, u64::MAX);
}

/// A named pipe in `directory`.
fn pipe(directory: &Path) -> std::path::PathBuf {
    let path = directory.join("pipe");
    // Not by another process: until it runs its program, it would hold the locks of other tests.
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    path
}

fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::symlink_metadata(path).unwrap().file_type().is_fifo()
}

/// What the reader of a pipe gets while `write` writes to it.
fn read_while<T>(pipe: &Path, write: impl FnOnce() -> T) -> (Vec<u8>, T) {
    let path = pipe.to_owned();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        fs::File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    });
    let written = write();
    (reader.join().unwrap(), written)
}

#[test]
fn a_pipe_is_written_to_and_stays_a_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = pipe(directory.path());
    let (read, written) = read_while(&pipe, || write_whole(&pipe, b"plan"));
    written.unwrap();
    assert_eq!(read, b"plan");
    assert!(is_pipe(&pipe));
    assert_eq!(names(directory.path()), ["pipe"]);
}

#[test]
fn a_backup_may_go_into_a_pipe() {
    let directory = folder_with(&[("x.y", "a")]);
    let before = fs::read(state_file(directory.path())).unwrap();
    let pipe = pipe(directory.path());
    let paths = paths(directory.path()).with_backup(Backup::At(pipe.clone()));
    let (mut store, opened) = LocalStore::open(paths, VERSION, &request(Duration::ZERO), &|| true).unwrap();
    let mut state = opened.state.unwrap();
    state.outputs.clear();
    state.lineage = "another".to_owned();
    let (backup, saved) = read_while(&pipe, || store.save(&mut state));
    saved.unwrap();
    assert_eq!(backup, before);
    assert!(is_pipe(&pipe));
}

#[test]
fn a_state_is_not_kept_in_a_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = pipe(directory.path());
    let paths = paths(directory.path()).writing_to(&pipe);
    let opened = LocalStore::open(paths, VERSION, &request(Duration::ZERO), &|| true);
    let error = opened.map(|_| ()).unwrap_err();
    assert_eq!(error.kind, StateErrorKind::Unsupported);
    assert!(error.detail.contains("Name a regular file"), "{error}");
    assert!(is_pipe(&pipe));
    assert_eq!(names(directory.path()), ["pipe"]);
}
