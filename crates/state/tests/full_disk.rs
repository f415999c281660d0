//! A disk that really fills up, where the environment variable `GROMA_SMALL_DISK` names a folder on a file system of a
//! few hundred kilobytes (`mount -t tmpfs -o size=400k tmpfs FOLDER`).

#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use groma_state::{
    AttributesJson, Begin, LocalStore, Locking, ObjectRecord, ObjectStatus, Opened, Operation, Outcome, StateErrorKind,
    StatePaths,
};

fn open(directory: &Path) -> (LocalStore, Opened) {
    LocalStore::open(StatePaths::of_workspace(directory, "default"), "1.15.5", &Locking::Off, &|| true).unwrap()
}

fn provider() -> ProviderConfig {
    ProviderConfig::default_in_root(ProviderAddress::default_for("aws"))
}

fn address(number: usize) -> ResourceInstance {
    format!("x.y[{number}]").parse().unwrap()
}

fn object(number: usize) -> Arc<ObjectRecord> {
    let filler = "f".repeat(1000);
    Arc::new(ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{number}\",\"filler\":\"{filler}\"}}"))))
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

/// Leaves `room` bytes, about, on the disk of `directory`.
fn fill(directory: &Path, room: usize) -> PathBuf {
    let path = directory.join("filler");
    let mut file = File::create(&path).unwrap();
    let mut written = 0;
    while file.write_all(&[0; 4096]).is_ok() {
        written += 4096;
    }
    file.set_len((written as u64).saturating_sub(room as u64)).unwrap();
    path
}

#[test]
fn a_full_disk_stops_the_run_and_loses_nothing() {
    let Some(directory) = std::env::var_os("GROMA_SMALL_DISK").map(PathBuf::from) else {
        println!("skipped: no small disk");
        return;
    };
    for room in [0, 4096, 12_000, 30_000, 60_000] {
        for entry in fs::read_dir(&directory).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        let (mut store, _) = open(&directory);
        let mut state = groma_state::State::new("1.15.5");
        state.insert(&address(0), None, &provider(), object(0));
        store.save(&mut state).unwrap();
        let journal = store.begin_run(&mut state).unwrap();
        let filler = fill(&directory, room);
        let mut made = 0;
        loop {
            let number = made + 1;
            if let Err(error) = journal.begin(&begin(number)) {
                assert_eq!(error.kind, StateErrorKind::DiskFull, "{error}");
                break;
            }
            match journal.finished(&address(number), None, &provider(), None, Outcome::Present(object(number))) {
                Ok(()) => made = number,
                Err(error) => {
                    // The object exists and could not be noted: its begin is on disk, so it will be asked after.
                    assert_eq!(error.kind, StateErrorKind::DiskFull, "{error}");
                    break;
                }
            }
        }
        for number in 1..=made {
            state.insert(&address(number), None, &provider(), object(number));
        }
        let saved = store.save(&mut state);
        assert!(made == 0 || saved.is_err(), "room {room}: {saved:?}");
        drop((store, journal));
        let (store, opened) = open(&directory);
        assert_eq!(opened.state.unwrap().len(), made + 1, "still full, room {room}");
        drop(store);
        fs::remove_file(filler).unwrap();
        let (mut store, opened) = open(&directory);
        let mut state = opened.state.unwrap();
        assert_eq!(state.len(), made + 1, "room {room}");
        assert!(opened.in_flight.len() <= 1);
        store.begin_run(&mut state).unwrap();
        drop(store);
        let (_, opened) = open(&directory);
        assert_eq!(opened.state.unwrap().len(), made + 1, "folded in, room {room}");
        println!("room {room}: {made} objects noted");
    }
}
