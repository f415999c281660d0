//! States and backups whose paths name pipes.

use std::io::Read;
use std::process::Command;

use super::*;
use crate::error::StateErrorKind;
use crate::store::write_whole;

/// A named pipe in `directory`.
fn pipe(directory: &Path) -> std::path::PathBuf {
    let path = directory.join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
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
