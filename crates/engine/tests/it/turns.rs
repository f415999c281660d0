//! As many conversations go on as `-parallelism` allows. Some more wait for their turn, and those leave no trace when the run is
//! stopped.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_engine::hooks::{Hooks, Operation as Doing, Subject};
use groma_engine::{Cancellation, Stop};
use groma_provider::Attribute;
use groma_scripted::{Operation, ResourceScript, Scripted};
use groma_value::{Type, Value};

use crate::support::{Project, errors, object_with};

/// What people were told: how many changes began, how many ended, and how many provisioners came to their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reported {
    begun: usize,
    ended: usize,
    provisioned: usize,
    /// How many objects were begun and not provisioned, at most.
    unprovisioned: usize,
}

#[derive(Default)]
struct Listener(Mutex<Reported>);

impl Listener {
    fn ended(&self) {
        self.0.lock().unwrap().ended += 1;
    }
}

impl Hooks for Listener {
    fn apply_start(&self, _: &Subject, _: Doing) {
        let mut reported = self.0.lock().unwrap();
        reported.begun += 1;
        reported.unprovisioned = reported.unprovisioned.max(reported.begun - reported.provisioned);
    }

    fn provision_complete(&self, _: &ResourceInstance, _: &str) {
        self.0.lock().unwrap().provisioned += 1;
    }

    fn apply_complete(&self, _: &Subject, _: Doing, _: &Value, _: Duration) {
        self.ended();
    }

    fn apply_errored(&self, _: &Subject, _: Doing, _: &Diagnostics, _: Duration) {
        self.ended();
    }
}

fn object() -> ResourceScript {
    ResourceScript::new(object_with("note", Attribute::optional(Type::String))).replace_on("name")
}

/// Objects that take their time. The first that is there asks the run to stop, once that is `wanted`.
fn slow(cancellation: Cancellation, wanted: Arc<Mutex<bool>>) -> Scripted {
    let slow = object().delay(Operation::Apply, Duration::from_millis(100)).on_apply(move |_, good| {
        if std::mem::take(&mut *wanted.lock().unwrap()) {
            cancellation.request();
        }
        good()
    });
    Scripted::new("test").resource("test_object", slow)
}

fn many(name: &str) -> String {
    format!(
        "resource \"test_object\" \"many\" {{\n  count = 25\n  name = \"{name}-${{count.index}}\"\n  lifecycle {{\n    \
         create_before_destroy = true\n  }}\n}}\n"
    )
}

/// A project of 25 objects that are there, of which three go on at once, and what is told. The next run is stopped when the
/// first object is done.
fn stopped() -> (Project, Arc<Listener>) {
    let (cancellation, wanted) = (Cancellation::new(), Arc::new(Mutex::new(false)));
    let mut project = Project::with_test("", slow(cancellation.clone(), Arc::clone(&wanted)));
    project.cancellation = cancellation;
    project.rewrite(&many("old"));
    project.apply();
    project.parallelism = 3;
    *wanted.lock().unwrap() = true;
    project.provider().forget_calls();
    let listener = Arc::new(Listener::default());
    project.hooks = Arc::clone(&listener) as Arc<dyn Hooks>;
    (project, listener)
}

fn applies(project: &Project) -> usize {
    project.provider().call_texts().iter().filter(|call| call.starts_with("apply")).count()
}

#[test]
fn updates_that_wait_for_their_turn_never_begin_once_the_run_is_to_stop() {
    let (mut project, listener) = stopped();
    project.rewrite(&many("old").replace("  count", "  note = \"new\"\n  count"));
    let planned = project.plan();
    assert_eq!(planned.actions().len(), 25);
    assert_eq!(errors(&project.apply_plan(planned)), ["execution halted"]);
    let done = applies(&project);
    assert!((1..=3).contains(&done), "{done}");
    let reported = *listener.0.lock().unwrap();
    assert_eq!((reported.begun, reported.ended), (done, done));
}

#[test]
fn object_awaiting_replacement_is_not_deposed_by_a_stopped_run() {
    let (mut project, listener) = stopped();
    project.rewrite(&many("new"));
    let planned = project.plan();
    assert_eq!(planned.actions().len(), 25);
    assert_eq!(errors(&project.apply_plan(planned)), ["execution halted"]);
    let (made, reported) = (applies(&project), *listener.0.lock().unwrap());
    assert!((1..=3).contains(&made), "{made}");
    assert_eq!((reported.begun, reported.ended), (made, made));
    let recorded = project.recorded();
    let deposed = recorded.iter().filter(|line| line.ends_with("deposed")).count();
    assert_eq!((recorded.len() - deposed, deposed), (25, made), "{recorded:?}");
}

#[test]
fn deletions_that_wait_for_their_turn_never_begin_once_the_run_is_to_stop() {
    let (mut project, listener) = stopped();
    project.rewrite("");
    let planned = project.plan();
    assert_eq!(planned.actions().len(), 25);
    assert_eq!(errors(&project.apply_plan(planned)), ["execution halted"]);
    let (gone, reported) = (applies(&project), *listener.0.lock().unwrap());
    assert!((1..=3).contains(&gone), "{gone}");
    assert_eq!((reported.begun, reported.ended, project.state.len()), (gone, gone, 25 - gone));
}

#[test]
fn an_object_keeps_its_turn_while_its_provisioners_run() {
    let main = "resource \"test_object\" \"many\" {\n  count = 12\n  name = count.index\n  provisioner \"local-exec\" {\n    command = \
                \"sleep 0.05\"\n  }\n}\n";
    let mut project = Project::with_test(main, Scripted::new("test").resource("test_object", object()));
    project.parallelism = 2;
    let listener = Arc::new(Listener::default());
    project.hooks = Arc::clone(&listener) as Arc<dyn Hooks>;
    project.apply();
    assert_eq!(*listener.0.lock().unwrap(), Reported { begun: 12, ended: 12, provisioned: 12, unprovisioned: 2 });
}

/// Asks the run to stop when people are told of the first change: while the walk is awake.
struct Impatient(Cancellation);

impl Hooks for Impatient {
    fn apply_complete(&self, _: &Subject, _: Doing, _: &Value, _: Duration) {
        if self.0.state() == Stop::No {
            self.0.request();
        }
    }
}

#[test]
fn stop_request_during_the_walk_reaches_providers() {
    let (cancellation, never) = (Cancellation::new(), Arc::new(Mutex::new(false)));
    let mut project = Project::with_test("", slow(cancellation.clone(), never));
    project.hooks = Arc::new(Impatient(cancellation.clone()));
    project.cancellation = cancellation;
    project.rewrite(&many("new"));
    let planned = project.plan();
    assert_eq!(errors(&project.apply_plan(planned)), ["execution halted"]);
    assert!(project.provider().is_stopped());
}
