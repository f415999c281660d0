//! What stores keep, in the words of those who open and save them.

mod between;
mod checkpoints;
mod killed;
mod locking;
mod machines;
mod remote;
mod saving;
mod sealed;
#[cfg(unix)]
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use tempfile::TempDir;

use super::*;
use crate::file;
use crate::journal::{Begin, Operation, Outcome};
use crate::model::State;
use crate::object::{AttributesJson, ObjectRecord, ObjectStatus};

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

fn provider() -> ProviderConfig {
    ProviderConfig::default_in_root(ProviderAddress::default_for("aws"))
}

fn address(text: &str) -> ResourceInstance {
    text.parse().unwrap()
}

fn object(id: &str) -> Arc<ObjectRecord> {
    Arc::new(ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{id}\",\"note\":\"of {id}\"}}"))))
}

fn begin(text: &str) -> Begin {
    Begin {
        address: address(text),
        deposed: None,
        operation: Operation::Create,
        provider: provider(),
        request: None,
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

fn open_error_of(state: &[u8]) -> crate::StateError {
    let directory = tempfile::tempdir().unwrap();
    fs::write(state_file(directory.path()), state).unwrap();
    open_error(directory.path())
}
