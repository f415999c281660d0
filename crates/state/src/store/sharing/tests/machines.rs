//! Shared runs on several machines over a store in memory, with faults of the store and of the clock.

use super::memory::{MachineObject, MemoryStore};
use super::*;
use crate::journal::{SegmentId, SegmentStore};
use crate::store::lease::{LEASE, TOLERANCE};
use crate::store::sharing::membership::Membership;
use crate::store::sharing::object::SharedObject;
use crate::store::sharing::renewal::Renewal;

/// A machine with the journals of its runs.
struct Machine {
    store: Arc<MemoryStore>,
    disk: TempDir,
}

fn machines<const COUNT: usize>(objects: &[(&str, &str)]) -> [Machine; COUNT] {
    let store = MemoryStore::shared(&state_with(objects));
    [(); COUNT].map(|()| Machine { store: Arc::clone(&store), disk: tempfile::tempdir().unwrap() })
}

impl Machine {
    fn object(&self) -> Arc<MachineObject> {
        Arc::new(MachineObject(Arc::clone(&self.store)))
    }

    fn shared(&self) -> SharedState {
        let options = SharedOptions {
            paths: StatePaths::of_file("terraform.tfstate").with_backup(Backup::None),
            runs: self.disk.path().join("runs"),
            journal: self.disk.path().join("journal"),
            terraform_version: "1.15.5".to_owned(),
            persist_intervals: None,
            replicating: Replicating::Caller,
            report: Arc::new(|_| {}),
        };
        SharedState::find(self.object(), options).unwrap().expect("the state is shared")
    }

    fn planned(&self, changes: &[&str]) -> Planned {
        planned(self.shared().read().unwrap(), changes, &[])
    }

    fn begin(&self, planned: &mut Planned, wait: &SharedWait<'_>) -> Result<Box<SharedRun>, StateError> {
        match self.shared().begin(&planned.versions, &mut planned.state, &request("one@here"), wait)? {
            Claimed::Current(run) => Ok(run),
            Claimed::Outdated(records) => panic!("{records:?}"),
        }
    }

    fn recover(&self) -> Result<Option<RecoveredRun>, StateError> {
        self.shared().recover(&request("next@here"), &NO_WAIT, &mut |_| {})
    }

    fn objects(&self) -> Vec<(String, String)> {
        objects_of(&self.shared().read().unwrap())
    }

    /// Kills a run while it creates an object.
    fn kill_creating(&self, text: &str) {
        let mut killed = self.planned(&[text]);
        let mut run = self.begin(&mut killed, &NO_WAIT).unwrap();
        run.begin_run(&mut killed.state).unwrap().begin(&creating(text)).unwrap();
        run.replicate();
        run.kill();
    }

    /// Kills a run whose journal has a result that the store does not get, and waits until another machine may take the run over.
    fn kill_with_unsent_result(&self, changes: &[&str], text: &str, id: &str) {
        let mut killed = self.planned(changes);
        let mut run = self.begin(&mut killed, &NO_WAIT).unwrap();
        set(&mut run, &mut killed.state, text, id);
        run.kill();
        self.store.content().failure = Some(StateErrorKind::Io);
        drop(run);
        self.store.content().failure = None;
        pass_deadline(&self.store);
    }
}

fn pass_deadline(store: &MemoryStore) {
    store.pass((LEASE + TOLERANCE).as_secs() + 1);
}

#[test]
fn run_that_another_machine_carries_on_has_not_ended_here() {
    let [one, other] = machines(&[("cloud_it.a", "1")]);
    one.kill_creating("cloud_it.new");
    assert_eq!(one.shared().ended_runs().unwrap().len(), 1, "on its machine nobody waits for the deadline");
    assert!(other.shared().ended_runs().unwrap().is_empty());
    pass_deadline(&one.store);
    let RecoveredRun { mut run, opened } = other.recover().unwrap().unwrap();
    // The file of the killed process is still on the first machine, and nobody has locked it.
    assert!(one.shared().ended_runs().unwrap().is_empty());
    assert!(one.recover().unwrap().is_none());
    let mut state = opened.state.unwrap();
    set(&mut run, &mut state, "cloud_it.new", "2");
    run.save(&mut state).unwrap();
    assert_eq!(other.objects(), pairs(&[("cloud_it.a", "1"), ("cloud_it.new", "2")]));
}

#[test]
fn recovered_run_that_is_paused_while_it_reads_the_state_takes_nothing_from_others() {
    let [one, other] = machines(&[("cloud_it.a", "1")]);
    one.kill_creating("cloud_it.new");
    pass_deadline(&one.store);
    let RecoveredRun { mut run, opened } = other.recover().unwrap().unwrap();
    let mut plan = planned(opened.state.unwrap(), &["cloud_it.a"], &[]);
    run.begin_run(&mut plan.state).unwrap();
    // When the state arrives, another run may have claimed and changed the records of this one.
    one.store.content().read_seconds = (LEASE + TOLERANCE).as_secs() + 1;
    let lost = run.claim(&other.shared(), &plan.versions, &mut plan.state, &NO_WAIT).unwrap_err();
    assert_eq!(lost.kind, StateErrorKind::Changed, "{lost}");
}

#[test]
fn results_that_the_other_machine_did_not_have_are_taken_in_later() {
    let [one, other] = machines(&[("cloud_it.a", "1")]);
    one.kill_with_unsent_result(&["cloud_it.a", "cloud_it.new"], "cloud_it.new", "2");
    assert!(other.recover().unwrap().is_none());
    assert_eq!(other.objects(), pairs(&[("cloud_it.a", "1")]));
    assert!(one.recover().unwrap().is_none());
    assert_eq!(one.objects(), pairs(&[("cloud_it.a", "1"), ("cloud_it.new", "2")]));
    assert!(one.store.document().runs.is_empty());
    assert!(!one.disk.path().join("runs").exists());
}

#[test]
fn warnings_about_results_that_are_taken_in_later_are_passed_on() {
    let [one, other] = machines(&[("cloud_it.a", "1")]);
    one.kill_with_unsent_result(&["cloud_it.new"], "cloud_it.new", "2");
    assert!(other.recover().unwrap().is_none());
    // The other machine makes the object again, so that there are two.
    let mut again = other.planned(&["cloud_it.new"]);
    let mut run = other.begin(&mut again, &NO_WAIT).unwrap();
    set(&mut run, &mut again.state, "cloud_it.new", "3");
    run.save(&mut again.state).unwrap();
    let mut warnings = Vec::new();
    one.shared().recover(&request("next@here"), &NO_WAIT, &mut |found| warnings.extend(found)).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let state = one.shared().read().unwrap();
    let record = state.get(&address("cloud_it.new")).unwrap();
    assert_eq!((record.current.is_some(), record.deposed.len()), (true, 1));
}

#[test]
fn results_that_are_taken_in_later_wait_for_the_run_that_changes_the_same_object() {
    let [one, other] = machines(&[("cloud_it.a", "1")]);
    one.kill_with_unsent_result(&["cloud_it.new"], "cloud_it.new", "2");
    assert!(other.recover().unwrap().is_none());
    let mut again = other.planned(&["cloud_it.new"]);
    let mut run = other.begin(&mut again, &NO_WAIT).unwrap();
    assert!(one.recover().unwrap().is_none());
    assert!(one.disk.path().join("runs").exists(), "the results stay on the machine");
    set(&mut run, &mut again.state, "cloud_it.new", "3");
    run.save(&mut again.state).unwrap();
    assert!(one.recover().unwrap().is_none());
    let state = one.shared().read().unwrap();
    let record = state.get(&address("cloud_it.new")).unwrap();
    assert_eq!((record.current.is_some(), record.deposed.len()), (true, 1), "neither object is forgotten");
    assert!(!one.disk.path().join("runs").exists());
}

#[test]
fn run_without_a_journal_is_not_taken_over_again_and_again() {
    let [one] = machines(&[]);
    let runs = one.disk.path().join("runs");
    let run = runs.join("0123456789abcdef");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::write(runs.join("0123456789abcdef.run"), "gone").unwrap();
    // The user keeps the damaged journal.
    std::fs::write(run.join(".terraform.tfstate.journal.0123abcd.damaged"), "damaged").unwrap();
    let serial = one.shared().read().unwrap().serial;
    assert!(one.recover().unwrap().is_none());
    assert_eq!(one.shared().read().unwrap().serial, serial, "nothing is written for it");
    assert!(!runs.join("0123456789abcdef.run").exists());
    assert!(run.exists());
}

#[test]
fn old_notes_about_journals_of_other_runs_are_deleted() {
    let [one, other] = machines(&[("cloud_it.a", "1")]);
    let [old, of_kept] = ["0123456789abcdef-aa/0", "fedcba9876543210-aa/0"].map(|name| SegmentId::parse(name).unwrap());
    for note in [&old, &of_kept] {
        one.store.create(note, b"groma journal merged: 7 bytes, 1600000000\n").unwrap();
    }
    // This journal could not be deleted, so it needs its note.
    one.store.create(&SegmentId { number: 1, ..of_kept.clone() }, b"journal").unwrap();
    one.kill_creating("cloud_it.new");
    pass_deadline(&one.store);
    let RecoveredRun { mut run, opened } = other.recover().unwrap().unwrap();
    let mut state = opened.state.unwrap();
    set(&mut run, &mut state, "cloud_it.new", "2");
    run.save(&mut state).unwrap();
    let notes: Vec<_> = one.store.list().unwrap().into_iter().filter(SegmentId::is_merge_note).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes.contains(&of_kept) && !notes.contains(&old), "{notes:?}");
}

#[test]
fn file_of_a_run_without_a_journal_is_removed() {
    let [one] = machines(&[]);
    let runs = one.disk.path().join("runs");
    std::fs::create_dir(&runs).unwrap();
    std::fs::write(runs.join("0123456789abcdef.run"), "gone").unwrap();
    let serial = one.shared().read().unwrap().serial;
    assert!(one.recover().unwrap().is_none());
    assert!(!runs.exists());
    assert_eq!(one.shared().read().unwrap().serial, serial, "nothing is written for it");
}

#[test]
fn claims_are_renewed_while_the_run_waits_for_the_ordinary_lock() {
    let [one] = machines(&[("cloud_it.a", "1")]);
    let until = one.object().now() + Duration::from_secs(600);
    one.store.content().locked_until = Some(until);
    let mut plan = one.planned(&["cloud_it.a"]);
    let wait = SharedWait { timeout: Duration::from_secs(900), keep_waiting: &|| true };
    let mut run = one.begin(&mut plan, &wait).unwrap();
    assert!(one.object().now() >= until, "it has waited");
    assert_eq!(one.store.content().found_over, BTreeSet::new());
    set(&mut run, &mut plan.state, "cloud_it.a", "2");
    run.save(&mut plan.state).unwrap();
    assert_eq!(one.objects(), pairs(&[("cloud_it.a", "2")]));
}

#[test]
fn run_is_not_renewed_after_its_deadline() {
    let [one] = machines(&[("cloud_it.a", "1")]);
    let mut plan = one.planned(&["cloud_it.a"]);
    let mut run = one.begin(&mut plan, &NO_WAIT).unwrap();
    let before = one.store.document();
    one.store.pass(LEASE.as_secs() + 1);
    let problem = run.renew().unwrap_err();
    assert!(problem.kind == StateErrorKind::Changed && problem.detail.contains("more than a minute"), "{problem}");
    assert_eq!(one.store.document(), before);
    // Neither by claims of another plan.
    let claimed = run.claim(&one.shared(), &plan.versions, &mut plan.state, &NO_WAIT);
    assert_eq!(claimed.unwrap_err(), problem);
    assert_eq!(one.store.document(), before);
}

#[test]
fn claims_of_a_run_that_was_taken_over_are_not_taken_back() {
    let [one] = machines(&[("cloud_it.a", "1")]);
    let mut plan = one.planned(&["cloud_it.a"]);
    let mut run = one.begin(&mut plan, &NO_WAIT).unwrap();
    let mut document = one.store.document();
    document.runs.values_mut().for_each(|entry| "other".clone_into(&mut entry.process));
    one.store.set_document(&document.bytes());
    let claimed = run.claim(&one.shared(), &plan.versions, &mut plan.state, &NO_WAIT);
    assert_eq!(claimed.unwrap_err().kind, StateErrorKind::Changed);
    assert_eq!(one.store.document(), document);
}

#[test]
fn renewal_goes_on_after_failures_and_ends_with_the_run() {
    let [one] = machines(&[("cloud_it.a", "1")]);
    let membership = Arc::new(Membership::new(one.object(), "run".to_owned(), &request("one@here")));
    membership.claim(&BTreeSet::new(), &NO_WAIT).unwrap();
    let lost = Arc::new(Mutex::new(None));
    let noted = Arc::clone(&lost);
    membership.on_loss(move |problem| *noted.lock().unwrap() = Some(problem.kind));
    let renewal = Renewal::start(&membership, Duration::from_millis(2)).unwrap();
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        let begin = std::time::Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < Duration::from_secs(30), "{what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    // The kind of an error of the store says nothing about the run.
    for kind in [StateErrorKind::Changed, StateErrorKind::Io] {
        one.store.content().failure = Some(kind);
        std::thread::sleep(Duration::from_millis(50));
        assert!(!renewal.has_ended(), "{kind:?}");
    }
    one.store.content().failure = None;
    let deadline = one.store.document().runs["run"].deadline;
    one.store.pass(30);
    until("it is renewed", &|| one.store.document().runs["run"].deadline != deadline || lost.lock().unwrap().is_some());
    assert_eq!(*lost.lock().unwrap(), None);
    one.store.content().failure = Some(StateErrorKind::Io);
    one.store.pass(LEASE.as_secs() + 1);
    until("the loss is noted", &|| lost.lock().unwrap().is_some());
    until("the thread ends", &|| renewal.has_ended());
    drop(renewal);
}

#[test]
fn refused_document_is_that_of_an_unshared_state_only_for_finding_out() {
    let [one] = machines(&[("cloud_it.a", "1")]);
    let (shared, mut plan) = (one.shared(), one.planned(&["cloud_it.a"]));
    let options = shared.options.clone();
    one.store.content().failure = Some(StateErrorKind::Denied);
    assert!(SharedState::find(one.object(), options).unwrap().is_none());
    assert_eq!(sharing_document(&*one.object()).unwrap_err().kind, StateErrorKind::Denied);
    assert_eq!(disable_sharing(&*one.object()).unwrap_err().kind, StateErrorKind::Denied);
    assert_eq!(shared.ended_runs().unwrap_err().kind, StateErrorKind::Denied);
    let begun = shared.begin(&plan.versions, &mut plan.state, &request("one@here"), &NO_WAIT);
    assert_eq!(begun.map(drop).unwrap_err().kind, StateErrorKind::Denied);
}

#[test]
fn writes_end_when_other_runs_are_always_faster() {
    let [one, other] = machines(&[("cloud_it.a", "1")]);
    one.kill_creating("cloud_it.new");
    one.store.content().is_contended = true;
    let problem = one.recover().map(drop).unwrap_err();
    assert_eq!(problem.kind, StateErrorKind::Io);
    assert!(problem.detail.contains("the sharing document of memory://state"), "{problem}");
    let problem = other.shared().fence().map(drop).unwrap_err();
    assert!(problem.detail.contains("the state of memory://state"), "{problem}");
}

#[test]
fn last_serial_has_no_successor() {
    let mut state = state_with(&[("cloud_it.a", "1")]);
    state.serial = u64::MAX;
    let store = MemoryStore::shared(&state);
    let one = Machine { store, disk: tempfile::tempdir().unwrap() };
    let problem = one.shared().fence().map(drop).unwrap_err();
    assert_eq!(problem.summary, "State serial out of range");
}

#[test]
fn unreadable_document_is_replaced_by_enabling_and_disabling() {
    let [one] = machines(&[("cloud_it.a", "1")]);
    for (bytes, is_shared) in [("{}", true), ("#", false), ("{\"format\":9}", true)] {
        one.store.set_document(bytes.as_bytes());
        assert_eq!(sharing_document(&*one.object()).unwrap_err().summary, "Unreadable sharing document");
        if is_shared {
            assert_eq!(enable_sharing(&*one.object()).unwrap(), SharingChange::Made);
            assert_eq!(enable_sharing(&*one.object()).unwrap(), SharingChange::Unneeded);
        } else {
            disable_sharing(&*one.object()).unwrap();
            assert_eq!(disable_sharing(&*one.object()).unwrap(), SharingChange::Unneeded);
        }
        assert_eq!(sharing_document(&*one.object()).unwrap().unwrap().enabled, is_shared);
    }
}
