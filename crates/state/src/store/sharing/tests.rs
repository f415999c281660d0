//! Shared runs over a local file.

mod machines;
mod memory;
mod recovery;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use tempfile::TempDir;

use super::document::LoggedChange;
use super::*;
use crate::error::{StateError, StateErrorKind};
use crate::file;
use crate::journal::{Begin, Operation, Outcome};
use crate::model::State;
use crate::object::{AttributesJson, ObjectRecord, ObjectStatus};
use crate::store::local::LocalStore;
use crate::store::lock::{LockRequest, Locking};
use crate::store::paths::{Backup, StatePaths};
use crate::store::remote::Replicating;

fn provider() -> ProviderConfig {
    ProviderConfig::default_in_root(ProviderAddress::default_for("cloud"))
}

fn address(text: &str) -> ResourceInstance {
    text.parse().unwrap()
}

fn object(id: &str) -> Arc<ObjectRecord> {
    Arc::new(ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{id}\"}}"))))
}

fn request(who: &str) -> LockRequest {
    LockRequest {
        operation: "OperationTypeApply".to_owned(),
        info: String::new(),
        who: who.to_owned(),
        version: "1.15.5".to_owned(),
        timeout: Duration::ZERO,
    }
}

const NO_WAIT: SharedWait<'static> = SharedWait { timeout: Duration::ZERO, keep_waiting: &|| true };

/// A directory with a shared state.
struct SharedDirectory {
    folder: TempDir,
    reported: Arc<Mutex<Vec<StateError>>>,
}

/// A planned change: the state after it, and the versions of the records that it uses.
struct Planned {
    state: State,
    versions: PlanVersions,
}

fn state_with(objects: &[(&str, &str)]) -> State {
    let mut state = State::new("1.15.5");
    state.serial = 1;
    for (text, id) in objects {
        state.insert(&address(text), None, &provider(), object(id));
    }
    state
}

fn objects_of(state: &State) -> Vec<(String, String)> {
    let pair = |view: crate::model::InstanceView<'_>| {
        (view.address().to_string(), view.record.current.as_ref().unwrap().id_json().unwrap().replace('"', ""))
    };
    state.iter().map(pair).collect()
}

fn planned(state: State, changes: &[&str], used: &[&str]) -> Planned {
    let records = PlanRecords {
        changed: changes.iter().map(|text| RecordName::instance(&address(text))).collect(),
        resources: used.iter().map(|text| address(text).config_resource()).collect(),
    };
    let versions = PlanVersions::new(records, &RecordDigests::of(&state), state.serial);
    Planned { state, versions }
}

fn creating(text: &str) -> Begin {
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

impl SharedDirectory {
    fn new(objects: &[(&str, &str)]) -> Self {
        let directory = Self { folder: tempfile::tempdir().unwrap(), reported: Arc::default() };
        std::fs::write(directory.paths().write, file::write(&state_with(objects))).unwrap();
        enable_sharing(&*directory.object()).unwrap();
        directory
    }

    fn paths(&self) -> StatePaths {
        StatePaths::of_file(self.folder.path().join("terraform.tfstate")).with_backup(Backup::None)
    }

    fn object(&self) -> Arc<LocalShared> {
        Arc::new(LocalShared::new(self.paths()))
    }

    fn shared(&self) -> SharedState {
        let (object, reported) = (self.object(), Arc::clone(&self.reported));
        let options = SharedOptions {
            paths: self.paths(),
            runs: object.runs(),
            journal: self.paths().journal(),
            terraform_version: "1.15.5".to_owned(),
            persist_intervals: None,
            replicating: Replicating::Background,
            report: Arc::new(move |problem| reported.lock().unwrap().push(problem.clone())),
        };
        SharedState::find(object, options).unwrap().expect("the state is shared")
    }

    /// Plans to set the objects, with a dependency on the resource of `used`.
    fn planned(&self, changes: &[&str], used: &[&str]) -> Planned {
        planned(self.shared().read().unwrap(), changes, used)
    }

    fn begin(&self, planned: &mut Planned, who: &str) -> Result<Claimed, StateError> {
        self.shared().begin(&planned.versions, &mut planned.state, &request(who), &NO_WAIT)
    }

    fn current(&self, planned: &mut Planned, who: &str) -> Box<SharedRun> {
        match self.begin(planned, who).unwrap() {
            Claimed::Current(run) => run,
            Claimed::Outdated(records) => panic!("{records:?}"),
        }
    }

    fn objects(&self) -> Vec<(String, String)> {
        objects_of(&self.shared().read().unwrap())
    }

    fn serial(&self) -> u64 {
        self.shared().read().unwrap().serial
    }

    fn files(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn lock_alone(&self) -> Result<(), StateError> {
        let locking = Locking::On(request("terraform@there"));
        LocalStore::open(self.paths(), "1.15.5", &locking, &|| true).map(|_| ())
    }
}

/// Sets an object in the journal and in the state of a run.
fn set(run: &mut SharedRun, state: &mut State, text: &str, id: &str) {
    let journal = run.begin_run(state).unwrap();
    let before = state.object(&address(text), None).cloned();
    journal.finished(&address(text), None, &provider(), before.as_deref(), Outcome::Present(object(id))).unwrap();
    state.insert(&address(text), None, &provider(), object(id));
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
}

#[test]
fn two_runs_change_different_objects_at_once() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1"), ("cloud_it.b", "1")]);
    let (mut one, mut other) = (directory.planned(&["cloud_it.a"], &[]), directory.planned(&["cloud_it.b"], &[]));
    let mut first = directory.current(&mut one, "one@here");
    let mut second = directory.current(&mut other, "other@here");
    set(&mut first, &mut one.state, "cloud_it.a", "2");
    set(&mut second, &mut other.state, "cloud_it.b", "3");
    second.save(&mut other.state).unwrap();
    first.save(&mut one.state).unwrap();
    drop((first, second));
    assert_eq!(directory.objects(), pairs(&[("cloud_it.a", "2"), ("cloud_it.b", "3")]));
    assert_eq!(directory.serial(), 3);
    assert_eq!(directory.files(), [".terraform.tfstate.groma-sharing", "terraform.tfstate"].map(str::to_owned).into());
    assert!(directory.reported.lock().unwrap().is_empty());
}

#[test]
fn claimed_object_is_refused_with_its_claimant() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1")]);
    let (mut one, mut other) = (directory.planned(&["cloud_it.a"], &[]), directory.planned(&["cloud_it.a"], &[]));
    let mut first = directory.current(&mut one, "one@here");
    let Err(problem) = directory.begin(&mut other, "other@here") else { panic!("both have it") };
    assert_eq!(problem.kind, StateErrorKind::Locked);
    assert!(problem.detail.contains("cloud_it.a is being changed by one@here since "), "{problem}");
    set(&mut first, &mut one.state, "cloud_it.a", "2");
    first.save(&mut one.state).unwrap();
    let Ok(Claimed::Outdated(records)) = directory.begin(&mut other, "other@here") else { panic!("it is outdated") };
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].name.to_string(), "cloud_it.a");
    assert_eq!(records[0].change.as_ref().map(|change: &LoggedChange| &*change.who), Some("one@here"));
    assert!(OutdatedRecord::lines(&records).starts_with("  - cloud_it.a by one@here at "));
    // Nothing is left of the refused runs.
    assert!(sharing_document(&*directory.object()).unwrap().unwrap().runs.is_empty());
    directory.lock_alone().unwrap();
}

#[test]
fn plan_outlives_changes_of_records_that_it_does_not_use() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1"), ("cloud_it.b", "1"), ("cloud_it.c", "1")]);
    let mut saved = directory.planned(&["cloud_it.a"], &["cloud_it.b"]);
    let change = |text: &str| {
        let mut other = directory.planned(&[text], &[]);
        let mut run = directory.current(&mut other, "other@here");
        set(&mut run, &mut other.state, text, "2");
        run.save(&mut other.state).unwrap();
    };
    change("cloud_it.c");
    let mut run = directory.current(&mut saved, "one@here");
    set(&mut run, &mut saved.state, "cloud_it.a", "3");
    run.save(&mut saved.state).unwrap();
    drop(run);
    let expected = [("cloud_it.a", "3"), ("cloud_it.b", "1"), ("cloud_it.c", "2")];
    assert_eq!(directory.objects(), pairs(&expected));
    let mut saved = directory.planned(&["cloud_it.a"], &["cloud_it.b"]);
    change("cloud_it.b");
    let Ok(Claimed::Outdated(records)) = directory.begin(&mut saved, "one@here") else { panic!("it is outdated") };
    assert_eq!(records[0].name.to_string(), "cloud_it.b");
}

#[test]
fn other_programs_find_a_shared_state_locked() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1"), ("cloud_it.b", "1")]);
    let (mut one, mut other) = (directory.planned(&["cloud_it.a"], &[]), directory.planned(&["cloud_it.b"], &[]));
    let first = directory.current(&mut one, "one@here");
    let second = directory.current(&mut other, "other@here");
    let problem = directory.lock_alone().unwrap_err();
    assert!(problem.kind == StateErrorKind::Locked && problem.detail.contains("one@here"), "{problem}");
    drop(first);
    assert_eq!(directory.lock_alone().unwrap_err().kind, StateErrorKind::Locked);
    drop(second);
    directory.lock_alone().unwrap();
    // They keep shared runs off as well.
    let locking = Locking::On(request("terraform@there"));
    let holder = LocalStore::open(directory.paths(), "1.15.5", &locking, &|| true).unwrap();
    let Err(problem) = directory.begin(&mut one, "one@here") else { panic!("both have it") };
    assert!(problem.kind == StateErrorKind::Locked && problem.detail.contains("terraform@there"), "{problem}");
    drop(holder);
    drop(directory.current(&mut one, "one@here"));
}

#[test]
fn results_of_a_killed_run_are_taken_over_with_its_claims() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1"), ("cloud_it.b", "1")]);
    let mut killed = directory.planned(&["cloud_it.a", "cloud_it.new"], &[]);
    let mut run = directory.current(&mut killed, "killed@here");
    set(&mut run, &mut killed.state, "cloud_it.new", "2");
    assert!(directory.shared().ended_runs().unwrap().is_empty());
    run.kill();
    drop(run);
    // Until somebody has taken its results over, nobody else makes the object.
    let mut early = directory.planned(&["cloud_it.new"], &[]);
    assert!(directory.begin(&mut early, "early@here").is_err());
    assert_eq!(directory.shared().ended_runs().unwrap().len(), 1);
    let recovered = directory.shared().recover(&request("next@here"), &NO_WAIT, &mut |_| {}).unwrap();
    assert!(recovered.is_none(), "no call is in flight");
    assert_eq!(directory.objects(), pairs(&[("cloud_it.a", "1"), ("cloud_it.b", "1"), ("cloud_it.new", "2")]));
    assert!(directory.shared().ended_runs().unwrap().is_empty());
    assert!(!directory.files().iter().any(|name| name.ends_with("groma-runs")), "{:?}", directory.files());
    directory.lock_alone().unwrap();
}

#[test]
fn calls_in_flight_stay_claimed_until_they_are_known() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1")]);
    let mut killed = directory.planned(&["cloud_it.new"], &[]);
    let mut run = directory.current(&mut killed, "killed@here");
    run.begin_run(&mut killed.state).unwrap().begin(&creating("cloud_it.new")).unwrap();
    run.kill();
    drop(run);
    for _ in 0..2 {
        // A run that only looks leaves the call to the next one.
        let recovered = directory.shared().recover(&request("next@here"), &NO_WAIT, &mut |_| {}).unwrap().unwrap();
        assert_eq!(recovered.opened.in_flight.len(), 1);
        drop(recovered);
    }
    let shared = directory.shared();
    let RecoveredRun { mut run, opened } =
        shared.recover(&request("next@here"), &NO_WAIT, &mut |_| {}).unwrap().unwrap();
    let mut planned = Planned { state: opened.state.unwrap(), ..directory.planned(&["cloud_it.a"], &[]) };
    let journal = run.begin_run(&mut planned.state).unwrap();
    journal.finished(&address("cloud_it.new"), None, &provider(), None, Outcome::Present(object("2"))).unwrap();
    planned.state.insert(&address("cloud_it.new"), None, &provider(), object("2"));
    assert!(run.claim(&shared, &planned.versions, &mut planned.state, &NO_WAIT).unwrap().is_empty());
    set(&mut run, &mut planned.state, "cloud_it.a", "3");
    run.save(&mut planned.state).unwrap();
    assert_eq!(directory.objects(), pairs(&[("cloud_it.a", "3"), ("cloud_it.new", "2")]));
    assert!(sharing_document(&*directory.object()).unwrap().unwrap().runs.is_empty());
}

#[test]
fn a_process_that_was_taken_over_writes_nothing() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1")]);
    let mut paused = directory.planned(&["cloud_it.a"], &[]);
    let mut run = directory.current(&mut paused, "paused@here");
    set(&mut run, &mut paused.state, "cloud_it.a", "2");
    // Its deadline passes, and another machine takes the run over.
    stored_document::update(&*directory.object(), |document| {
        document.runs.values_mut().for_each(|entry| "other".clone_into(&mut entry.process));
        Ok(())
    })
    .unwrap();
    let problem = run.save(&mut paused.state).unwrap_err();
    assert_eq!(problem.kind, StateErrorKind::Changed);
    assert!(problem.summary.contains("shared run was lost"), "{problem}");
    assert_eq!(directory.objects(), pairs(&[("cloud_it.a", "1")]));
}

#[test]
fn state_that_a_killed_process_was_writing_is_completed() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1")]);
    let file = directory.paths().write;
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(Path::new(directory.folder.path()).join(".terraform.tfstate.groma-commit"), &whole).unwrap();
    std::fs::write(&file, [b"#", &whole[1..40]].concat()).unwrap();
    // A command that does not share the state completes it, too.
    directory.lock_alone().unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), whole);
    std::fs::write(&file, [b"#", &whole[1..40]].concat()).unwrap();
    assert_eq!(directory.objects(), pairs(&[("cloud_it.a", "1")]));
    assert_eq!(std::fs::read(&file).unwrap(), whole);
}

#[test]
fn file_that_terraform_is_writing_is_read_afterwards() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1")]);
    let file = directory.paths().write;
    let whole = std::fs::read(&file).unwrap();
    let locking = Locking::On(request("terraform@there"));
    let holder = LocalStore::open(directory.paths(), "1.15.5", &locking, &|| true).unwrap();
    std::fs::write(&file, "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            std::fs::write(&file, &whole).unwrap();
        });
        assert_eq!(directory.objects(), pairs(&[("cloud_it.a", "1")]));
    });
    drop(holder);
}

#[test]
fn many_runs_at_once_lose_nothing() {
    const RUNS: usize = 12;
    let directory = SharedDirectory::new(&[("cloud_it.shared", "0")]);
    std::thread::scope(|scope| {
        for number in 0..RUNS {
            let directory = &directory;
            scope.spawn(move || {
                let text = format!("cloud_it.own{number}");
                let mut planned = directory.planned(&[&text], &[]);
                let mut run = directory.current(&mut planned, "many@here");
                set(&mut run, &mut planned.state, &text, &number.to_string());
                run.save(&mut planned.state).unwrap();
            });
        }
    });
    assert_eq!(directory.objects().len(), RUNS + 1);
    assert_eq!(directory.serial(), RUNS as u64 + 1);
}

#[test]
fn content_that_is_replaced_during_a_read_is_read_again() {
    let directory = SharedDirectory::new(&[]);
    let contents = ["1", "2"].map(|id| {
        let names: Vec<String> = (0..20_000).map(|number| format!("cloud_it.a{number}")).collect();
        let objects: Vec<(&str, &str)> = names.iter().map(|name| (&**name, id)).collect();
        bytes::Bytes::from(file::write(&state_with(&objects)))
    });
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let ordering = std::sync::atomic::Ordering::Relaxed;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let writer = directory.object();
            let mut version = writer.read_state().unwrap().unwrap().version;
            while !is_done.load(ordering) {
                for content in &contents {
                    version = writer.write_state(content, &version).unwrap();
                }
            }
        });
        let reader = directory.object();
        let read: Vec<bool> = (0..60)
            .map(|_| reader.read_state().unwrap().unwrap().bytes)
            .skip_while(|bytes| bytes.len() < 10_000)
            .map(|bytes| contents.contains(&bytes))
            .collect();
        is_done.store(true, ordering);
        assert!(read.iter().all(|is_whole| *is_whole), "{read:?}");
    });
}

#[cfg(unix)]
#[test]
fn document_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let directory = SharedDirectory::new(&[]);
    let path = directory.folder.path().join(".terraform.tfstate.groma-sharing");
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    disable_sharing(&*directory.object()).unwrap();
    assert!(!sharing_document(&*directory.object()).unwrap().unwrap().enabled);
}
