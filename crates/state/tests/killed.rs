//! A process that is killed at any moment loses nothing that it has said to be done.

#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use groma_state::{
    AttributesJson, Begin, LocalStore, LockRequest, Locking, ObjectRecord, ObjectStatus, Opened, Operation, Outcome,
    State, StatePaths,
};

const FOLDER: &str = "GROMA_TEST_KILLED_FOLDER";
const ROUNDS: u64 = 40;

fn open(directory: &Path) -> (LocalStore, Opened) {
    let locking = Locking::On(LockRequest {
        operation: "test".into(),
        info: String::new(),
        who: "test".into(),
        version: "0".into(),
        timeout: Duration::from_secs(10),
    });
    LocalStore::open(StatePaths::of_workspace(directory, "default"), "1.15.5", &locking, &|| true).unwrap()
}

fn provider() -> ProviderConfig {
    ProviderConfig::default_in_root(ProviderAddress::default_for("aws"))
}

fn address(number: usize) -> ResourceInstance {
    format!("x.y[{number}]").parse().unwrap()
}

fn begin(number: usize) -> Begin {
    Begin {
        address: address(number),
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

/// Makes object after object, and says so on its output; saves now and then. Does nothing but when the test below asks.
#[test]
fn the_process_to_kill() {
    let Some(directory) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let (mut store, opened) = open(&directory);
    let mut state = opened.state.unwrap_or_else(|| State::new("1.15.5"));
    let mut out = fs::File::create(directory.join("said")).unwrap();
    let first = state.len() + 1;
    let mut journal = store.begin_run(&mut state).unwrap();
    for number in first..first + 100_000 {
        journal.begin(&begin(number)).unwrap();
        let attributes = format!("{{\"id\":\"{number}\",\"filler\":\"{}\"}}", "f".repeat(number * 7919 % 3000));
        let object = Arc::new(ObjectRecord::new(0, AttributesJson::new(attributes)));
        journal.finished(&address(number), None, &provider(), None, Outcome::Present(object.clone())).unwrap();
        writeln!(out, "{number}").unwrap();
        state.insert(&address(number), None, &provider(), object);
        if number % 20 == 0 {
            store.save(&mut state).unwrap();
            journal = store.begin_run(&mut state).unwrap();
        }
    }
}

#[test]
fn killed_process_loses_no_result() {
    let directory = tempfile::tempdir().unwrap();
    let mut made = 0;
    let mut interrupted_saves = 0;
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["the_process_to_kill", "--exact", "--test-threads=1"])
            .env(FOLDER, directory.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(5 + round * 37 % 90));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut said = String::new();
        if let Ok(mut file) = fs::File::open(directory.path().join("said")) {
            file.read_to_string(&mut said).unwrap();
        }
        made = said.lines().filter_map(|line| line.parse().ok()).next_back().unwrap_or(made).max(made);
        let file = fs::read(directory.path().join("terraform.tfstate")).unwrap_or_default();
        interrupted_saves += usize::from(file.first() == Some(&b'#'));
        let (store, opened) = open(directory.path());
        let state = opened.state.unwrap_or_default();
        // One more may have been noted than could be said; one call at most was under way.
        assert!(state.len() == made || state.len() == made + 1, "{} of {made} in round {round}", state.len());
        assert!((1..=made).all(|number| state.get(&address(number)).is_some()), "round {round}");
        assert!(opened.in_flight.len() <= 1, "round {round}");
        assert!(opened.warnings.iter().all(|warning| warning.summary.contains("completed from the journal")));
        made = state.len();
        drop(store);
        let _ = fs::remove_file(directory.path().join("said"));
    }
    println!("{made} objects, {interrupted_saves} of {ROUNDS} kills in the middle of writing the file");
    assert!(made > 0);
}
