//! What is told of operations whose results cannot be written down.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::Recorder;
use groma_engine::hooks::{Hooks, Operation, Subject};
use groma_state::{Begin, DeposedKey, ObjectRecord, Outcome};
use groma_value::Value;

use crate::support::{Project, errors};

/// Has room for so many records, and none after them.
struct Room(Mutex<usize>);

impl Room {
    fn take(&self) -> Result<(), Diagnostic> {
        let mut room = self.0.lock().unwrap();
        *room = room.checked_sub(1).ok_or_else(|| Diagnostic::error("Disk full", "There is no room."))?;
        Ok(())
    }
}

impl Recorder for Room {
    fn begin(&self, _: &Begin) -> Result<(), Diagnostic> {
        self.take()
    }

    fn finished(
        &self,
        _: &ResourceInstance,
        _: Option<&DeposedKey>,
        _: &ProviderConfig,
        _: Option<&ObjectRecord>,
        _: Outcome,
    ) -> Result<(), Diagnostic> {
        self.take()
    }

    fn resolved(&self, _: &ResourceInstance, _: Option<&DeposedKey>) -> Result<(), Diagnostic> {
        self.take()
    }
}

/// Notes how operations begin and end.
#[derive(Default)]
struct Reported(Mutex<Vec<&'static str>>);

impl Reported {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    fn count(&self, what: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|reported| **reported == what).count()
    }
}

impl Hooks for Reported {
    fn apply_start(&self, _: &Subject, _: Operation) {
        self.note("start");
    }

    fn apply_complete(&self, _: &Subject, _: Operation, _: &Value, _: Duration) {
        self.note("complete");
    }

    fn apply_errored(&self, _: &Subject, _: Operation, _: &Diagnostics, _: Duration) {
        self.note("errored");
    }
}

/// Applies a configuration with room for so many records; how many operations began, ended well and failed.
fn reported(main: &str, room: usize) -> (usize, usize, usize) {
    let reported = Arc::new(Reported::default());
    let mut project = Project::new(main);
    project.hooks = reported.clone();
    let planned = project.plan();
    let problems = project.apply_recorded(planned, Arc::new(Room(Mutex::new(room))));
    assert_eq!(errors(&problems), ["Disk full"]);
    (reported.count("start"), reported.count("complete"), reported.count("errored"))
}

#[test]
fn unrecorded_operation_is_not_reported_as_complete() {
    assert_eq!(reported("resource \"terraform_data\" \"a\" { count = 6 }", 2), (6, 2, 4));
}

#[test]
fn creation_is_complete_only_after_its_provisioner_is_recorded() {
    let main = r#"
        resource "terraform_data" "a" {
          provisioner "local-exec" { command = "exit 0" }
        }
        "#;
    // The object is written down before the provisioner runs, and after it.
    assert_eq!(reported(main, 0), (1, 0, 1));
    assert_eq!(reported(main, 1), (1, 0, 1));
}
