//! Runs that go on with the calls of a killed one while other runs change the state.

use groma_value::{Type, Value};

use super::*;
use crate::model::OutputValue;
use crate::store::remote::PersistIntervals;

impl SharedDirectory {
    /// Kills a run while it creates an object.
    fn kill_creating(&self, text: &str) {
        let mut killed = self.planned(&[text], &[]);
        let mut run = self.current(&mut killed, "killed@here");
        run.begin_run(&mut killed.state).unwrap().begin(&creating(text)).unwrap();
        run.kill();
    }

    /// Returns the shared state with writes during runs.
    fn persisting(&self, interval: Duration) -> SharedState {
        let intervals = PersistIntervals { with_journal: interval, without_journal: interval };
        let options = SharedOptions { persist_intervals: Some(intervals), ..self.shared().options };
        SharedState::find(self.object(), options).unwrap().unwrap()
    }

    fn change(&self, text: &str, id: &str) {
        let mut plan = self.planned(&[text], &[]);
        let mut run = self.current(&mut plan, "other@here");
        set(&mut run, &mut plan.state, text, id);
        run.save(&mut plan.state).unwrap();
    }

    fn set_output(&self, name: &str, text: &str) {
        let mut plan = self.planned(&[], &[]);
        plan.versions.changed.insert(RecordName::output(&name.into()));
        let mut run = self.current(&mut plan, "other@here");
        run.begin_run(&mut plan.state).unwrap();
        let (value, ty) = (Value::string(text), Type::String);
        plan.state.outputs.insert(name.into(), OutputValue { value, ty, sensitive: false, deprecated: None });
        run.save(&mut plan.state).unwrap();
    }

    fn until_stored(&self, text: &str, id: &str) {
        let begin = std::time::Instant::now();
        while !self.objects().contains(&(text.to_owned(), id.to_owned())) {
            assert!(begin.elapsed() < Duration::from_secs(30), "{text} is not written");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Takes over the call of the killed run, and returns the plan with its result.
fn recovered(shared: &SharedState, changes: &[&str]) -> (Box<SharedRun>, Planned) {
    let recovered = shared.recover(&request("next@here"), &NO_WAIT, &mut |_| {});
    let RecoveredRun { mut run, opened } = recovered.unwrap().unwrap();
    let mut plan = planned(opened.state.unwrap(), changes, &[]);
    let journal = run.begin_run(&mut plan.state).unwrap();
    journal.finished(&address("cloud_it.new"), None, &provider(), None, Outcome::Present(object("2"))).unwrap();
    plan.state.insert(&address("cloud_it.new"), None, &provider(), object("2"));
    (run, plan)
}

#[test]
fn objects_that_a_run_has_recovered_do_not_make_its_own_plan_stale() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1")]);
    directory.kill_creating("cloud_it.new");
    let shared = directory.persisting(Duration::from_millis(5));
    let (mut run, mut plan) = recovered(&shared, &["cloud_it.a", "cloud_it.new"]);
    directory.until_stored("cloud_it.new", "2");
    assert_eq!(run.claim(&shared, &plan.versions, &mut plan.state, &NO_WAIT).unwrap(), []);
    set(&mut run, &mut plan.state, "cloud_it.new", "3");
    run.save(&mut plan.state).unwrap();
    assert_eq!(directory.objects(), pairs(&[("cloud_it.a", "1"), ("cloud_it.new", "3")]));
}

#[test]
fn recovered_objects_are_kept_when_other_runs_have_written_meanwhile() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1"), ("cloud_it.b", "1")]);
    directory.kill_creating("cloud_it.new");
    let shared = directory.persisting(Duration::from_secs(3600));
    // The plan needs no change of the recovered object.
    let (mut run, mut plan) = recovered(&shared, &["cloud_it.a"]);
    directory.change("cloud_it.b", "5");
    assert_eq!(run.claim(&shared, &plan.versions, &mut plan.state, &NO_WAIT).unwrap(), []);
    set(&mut run, &mut plan.state, "cloud_it.a", "3");
    run.save(&mut plan.state).unwrap();
    let expected = [("cloud_it.a", "3"), ("cloud_it.b", "5"), ("cloud_it.new", "2")];
    assert_eq!(directory.objects(), pairs(&expected));
}

#[test]
fn recovered_run_takes_in_what_others_have_written_whatever_its_serial_is() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1"), ("cloud_it.b", "1")]);
    directory.kill_creating("cloud_it.new");
    let shared = directory.persisting(Duration::from_secs(3600));
    let (mut run, mut plan) = recovered(&shared, &["cloud_it.a"]);
    directory.change("cloud_it.b", "5");
    // The run has counted a write of recovered results that were stored already.
    plan.versions.serial = directory.shared().read().unwrap().serial;
    assert_eq!(run.claim(&shared, &plan.versions, &mut plan.state, &NO_WAIT).unwrap(), []);
    set(&mut run, &mut plan.state, "cloud_it.a", "3");
    run.save(&mut plan.state).unwrap();
    let expected = [("cloud_it.a", "3"), ("cloud_it.b", "5"), ("cloud_it.new", "2")];
    assert_eq!(directory.objects(), pairs(&expected));
}

#[test]
fn writes_of_a_recovered_run_leave_the_changes_of_others() {
    let directory = SharedDirectory::new(&[("cloud_it.a", "1"), ("cloud_it.b", "1")]);
    directory.kill_creating("cloud_it.new");
    let shared = directory.persisting(Duration::from_millis(5));
    let (mut run, mut plan) = recovered(&shared, &["cloud_it.a"]);
    directory.until_stored("cloud_it.new", "2");
    directory.change("cloud_it.b", "5");
    directory.set_output("other", "1");
    assert_eq!(run.claim(&shared, &plan.versions, &mut plan.state, &NO_WAIT).unwrap(), []);
    set(&mut run, &mut plan.state, "cloud_it.a", "3");
    directory.until_stored("cloud_it.a", "3");
    assert!(directory.shared().read().unwrap().outputs.contains_key("other"));
    run.save(&mut plan.state).unwrap();
    assert!(directory.shared().read().unwrap().outputs.contains_key("other"));
    let expected = [("cloud_it.a", "3"), ("cloud_it.b", "5"), ("cloud_it.new", "2")];
    assert_eq!(directory.objects(), pairs(&expected));
}
